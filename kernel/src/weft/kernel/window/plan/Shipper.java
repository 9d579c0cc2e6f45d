package weft.kernel.window.plan;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.spark.Inputs;
import weft.kernel.spark.RowGenerator;
import weft.kernel.spark.RowWriter;
import weft.kernel.window.bucket.BucketMessage;
import weft.kernel.window.bucket.Buckets;
import weft.kernel.window.bucket.LateRow;
import weft.kernel.window.state.KeyTable;
import weft.kernel.window.time.Millis;

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

  private transient RowWriter valuesOf;
  private transient RowWriter keyOf;
  private transient RowWriter arrivalOf;
  private transient RowWriter rowOf;
  private transient RowWriter columnsOf;
  private transient LateRow lateRow;
  private transient Mail mail;
  private transient Map<Long, Parcel[]> waiting;

  /**
   * Rows on their way to one bucket, and when the last of those without an event time was written.
   */
  private static final class Parcel {
    final Blob rows = new Blob();
    long arrival = Millis.NONE;
  }

  Shipper(Inputs inputs, StructType lateType, String identity, int buckets, int keys, long within) {
    super(inputs, BucketMessage.IN, identity);
    this.lateType = lateType;
    this.identity = identity;
    this.buckets = buckets;
    this.keys = keys;
    this.within = within;
  }

  @Override
  protected RowGenerator over(Inputs replaced) {
    return new Shipper(replaced, lateType, identity, buckets, keys, within);
  }

  private void open() {
    int afterKeys = BucketPlan.HEAD + keys;
    valuesOf = inputs().writer(0, BucketPlan.HEAD);
    keyOf = inputs().writer(BucketPlan.HEAD, afterKeys);
    arrivalOf = inputs().writer(afterKeys, afterKeys + 1);
    rowOf = inputs().writer(afterKeys + 1, inputs().size() - 1);
    columnsOf = inputs().writer(afterKeys + 1, inputs().size());
    lateRow = new LateRow(lateType);
    mail = new Mail(buckets);
    waiting = new HashMap<>();
  }

  @Override
  protected Iterator<InternalRow> take(InternalRow row) {
    if (valuesOf == null) {
      open();
    }
    UnsafeRow values = valuesOf.write(row);
    if (!values.isNullAt(BucketPlan.CONTROL_AT)) {
      return Mail.one(mail.control(values.getUTF8String(BucketPlan.CONTROL_AT)));
    }
    UnsafeRow key = keyOf.write(row);
    int bucket =
        Buckets.of(
            KeyTable.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes()), buckets);
    boolean isTimeless = values.isNullAt(BucketPlan.EVENT_TIME_AT);
    UnsafeRow arrival = arrivalOf.write(row);
    if (isTimeless && arrival.isNullAt(0)) {
      return Mail.one(late(row, bucket, null, 0));
    }
    long time = isTimeless ? arrival.getLong(0) : values.getLong(BucketPlan.EVENT_TIME_AT);
    long eventMs = Math.floorDiv(time, 1000L);
    if (!isTimeless && !values.isNullAt(BucketPlan.WATERMARK_AT)) {
      long watermark = Math.floorDiv(values.getLong(BucketPlan.WATERMARK_AT), 1000L);
      if (Millis.plus(eventMs, within) <= watermark) {
        return Mail.one(late(row, bucket, eventMs, watermark - eventMs));
      }
    }
    Parcel[] parcels =
        waiting.computeIfAbsent(values.getLong(BucketPlan.KNOT_AT), each -> new Parcel[buckets]);
    parcels[bucket] = parcels[bucket] == null ? new Parcel() : parcels[bucket];
    Parcel parcel = parcels[bucket];
    parcel.arrival = isTimeless ? Math.max(parcel.arrival, eventMs) : parcel.arrival;
    parcel.rows.putArray(key.getBytes());
    parcel.rows.putLong(time);
    parcel.rows.putArray(((UTF8String) inputs().value(inputs().size() - 1, row)).getBytes());
    parcel.rows.putArray(rowOf.write(row).getBytes());
    return NONE;
  }

  @Override
  protected Iterator<InternalRow> finish() {
    List<InternalRow> out = new ArrayList<>();
    if (waiting != null) {
      waiting.forEach(
          (knot, parcels) -> {
            for (int bucket = 0; bucket < buckets; bucket++) {
              Parcel parcel = parcels[bucket];
              if (parcel != null) {
                out.add(
                    mail.message(
                        bucket,
                        BucketMessage.SEGMENT,
                        knot,
                        parcel.arrival,
                        parcel.rows.toArray()));
              }
            }
          });
    }
    return out.iterator();
  }

  private InternalRow late(InternalRow row, int bucket, Long eventMs, long lateness) {
    Blob out = new Blob();
    Long end = eventMs == null ? null : (Long) Millis.plus(eventMs, within);
    lateRow.write(
        columnsOf.write(row), eventMs, end, eventMs == null ? null : (Long) lateness, out);
    return mail.message(bucket, BucketMessage.LATE, 0, 0, out.toArray());
  }
}
