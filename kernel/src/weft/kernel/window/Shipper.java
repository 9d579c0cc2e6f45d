package weft.kernel.window;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.IterableOnce;

/**
 * Sends whole rows to the buckets of their keys, many in one message.
 *
 * <p>In: control, event time, knot and watermark of a row, its keys, when it was written to its
 * stream, and the columns that a late row keeps, its id last. A row whose time has passed, so that
 * nobody remembers its key, is late. The time of a row without an event time is when it was
 * written; a message tells the latest of those among its rows.
 */
final class Shipper extends RowGenerator {
  private static final long serialVersionUID = 1;

  private final StructType lateType;
  private final String identity;
  private final int buckets;
  private final int keys;
  private final long within;

  private transient UnsafeProjection valuesOf;
  private transient UnsafeProjection keyOf;
  private transient UnsafeProjection arrivalOf;
  private transient UnsafeProjection rowOf;
  private transient UnsafeProjection columnsOf;
  private transient LateRow lateRow;
  private transient Mail mail;
  private transient Map<Long, Parcel[]> waiting;

  /**
   * Rows on their way to one bucket, and when the last of those without an event time was written.
   */
  private static final class Parcel {
    final Blob rows = new Blob();
    long arrival = Knots.NONE;
  }

  Shipper(
      List<Expression> inputs,
      StructType lateType,
      String identity,
      int buckets,
      int keys,
      long within) {
    super(inputs, Message.IN, identity);
    this.lateType = lateType;
    this.identity = identity;
    this.buckets = buckets;
    this.keys = keys;
    this.within = within;
  }

  @Override
  RowGenerator withChildren(List<Expression> replaced) {
    return new Shipper(replaced, lateType, identity, buckets, keys, within);
  }

  private void open() {
    int afterKeys = Plan.HEAD + keys;
    valuesOf = projection(0, Plan.HEAD);
    keyOf = projection(Plan.HEAD, afterKeys);
    arrivalOf = projection(afterKeys, afterKeys + 1);
    rowOf = projection(afterKeys + 1, inputs().size() - 1);
    columnsOf = projection(afterKeys + 1, inputs().size());
    lateRow = new LateRow(lateType);
    mail = new Mail(buckets);
    waiting = new HashMap<>();
  }

  @Override
  public IterableOnce<InternalRow> eval(InternalRow row) {
    if (valuesOf == null) {
      open();
    }
    UnsafeRow values = valuesOf.apply(row);
    if (!values.isNullAt(Plan.CONTROL_AT)) {
      return Mail.one(mail.control(values.getUTF8String(Plan.CONTROL_AT)));
    }
    UnsafeRow key = keyOf.apply(row);
    int bucket =
        Buckets.of(
            Table.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes()), buckets);
    boolean isTimeless = values.isNullAt(Plan.EVENT_TIME_AT);
    UnsafeRow arrival = arrivalOf.apply(row);
    if (isTimeless && arrival.isNullAt(0)) {
      return Mail.one(late(row, bucket, null, 0));
    }
    long time = isTimeless ? arrival.getLong(0) : values.getLong(Plan.EVENT_TIME_AT);
    long eventMs = Math.floorDiv(time, 1000L);
    if (!isTimeless && !values.isNullAt(Plan.WATERMARK_AT)) {
      long watermark = Math.floorDiv(values.getLong(Plan.WATERMARK_AT), 1000L);
      if (Millis.plus(eventMs, within) <= watermark) {
        return Mail.one(late(row, bucket, eventMs, watermark - eventMs));
      }
    }
    Parcel[] parcels =
        waiting.computeIfAbsent(values.getLong(Plan.KNOT_AT), each -> new Parcel[buckets]);
    parcels[bucket] = parcels[bucket] == null ? new Parcel() : parcels[bucket];
    Parcel parcel = parcels[bucket];
    parcel.arrival = isTimeless ? Math.max(parcel.arrival, eventMs) : parcel.arrival;
    parcel.rows.putArray(key.getBytes());
    parcel.rows.putLong(time);
    parcel.rows.putArray(((UTF8String) id().eval(row)).getBytes());
    parcel.rows.putArray(rowOf.apply(row).getBytes());
    return Mail.none();
  }

  private Expression id() {
    return inputs().get(inputs().size() - 1);
  }

  @Override
  public IterableOnce<InternalRow> terminate() {
    List<InternalRow> out = new ArrayList<>();
    if (waiting != null) {
      waiting.forEach(
          (knot, parcels) -> {
            for (int bucket = 0; bucket < buckets; bucket++) {
              Parcel parcel = parcels[bucket];
              if (parcel != null) {
                out.add(
                    mail.message(
                        bucket, Message.SEGMENT, knot, parcel.arrival, parcel.rows.toArray()));
              }
            }
          });
    }
    return Mail.all(out);
  }

  private InternalRow late(InternalRow row, int bucket, Long eventMs, long lateness) {
    Blob out = new Blob();
    Long end = eventMs == null ? null : (Long) Millis.plus(eventMs, within);
    lateRow.write(
        columnsOf.apply(row), eventMs, end, eventMs == null ? null : (Long) lateness, out);
    return mail.message(bucket, Message.LATE, 0, 0, out.toArray());
  }
}
