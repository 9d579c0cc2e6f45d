package weft.kernel.window.plan;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import weft.kernel.bytes.Blob;
import weft.kernel.operator.Buckets;
import weft.kernel.operator.Columns;
import weft.kernel.operator.Message;
import weft.kernel.operator.Router;
import weft.kernel.spark.RowWriter;
import weft.kernel.window.bucket.LateRow;
import weft.kernel.window.state.KeyTable;
import weft.kernel.window.time.Millis;

/**
 * Sends whole rows to the buckets of their keys, many in one message.
 *
 * <p>In: event time, knot and watermark of a row, its keys, when it was written to its
 * stream, and the columns that a late row keeps, its id last. A row whose time has passed, so that
 * nobody remembers its key, is late. The time of a row without an event time is when it was
 * written; a message tells the latest of those among its rows.
 */
final class Shipper extends Router {
  private static final long serialVersionUID = 1;

  private final Columns columns;
  private final StructType lateType;
  private final int buckets;
  private final int keys;
  private final long within;

  private transient RowWriter keyOf;
  private transient RowWriter rowOf;
  private transient RowWriter columnsOf;
  private transient LateRow lateRow;
  private transient Map<Long, Parcel[]> waiting;

  /**
   * Rows on their way to one bucket, and when the last of those without an event time was written.
   */
  private static final class Parcel {
    final Blob rows = new Blob();
    long arrival = Millis.NONE;
  }

  Shipper(Columns columns, StructType lateType, int buckets, int keys, long within) {
    this.columns = columns;
    this.lateType = lateType;
    this.buckets = buckets;
    this.keys = keys;
    this.within = within;
  }

  private void open() {
    int row = BucketPlan.HEAD + keys + 1;
    keyOf = columns.writer(BucketPlan.HEAD, BucketPlan.HEAD + keys);
    rowOf = columns.writer(row, columns.size() - 1);
    columnsOf = columns.writer(row, columns.size());
    lateRow = new LateRow(lateType);
    waiting = new HashMap<>();
  }

  @Override
  protected void begin() {
    if (keyOf == null) {
      open();
    }
  }

  @Override
  protected Iterator<Message> take(InternalRow row) {
    UnsafeRow key = keyOf.write(row);
    int bucket =
        Buckets.of(
            KeyTable.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes()), buckets);
    boolean isTimeless = row.isNullAt(BucketPlan.EVENT_TIME_AT);
    int arrival = BucketPlan.HEAD + keys;
    if (isTimeless && row.isNullAt(arrival)) {
      return one(late(row, bucket, null, 0));
    }
    long time = row.getLong(isTimeless ? arrival : BucketPlan.EVENT_TIME_AT);
    long eventMs = Math.floorDiv(time, 1000L);
    if (!isTimeless && !row.isNullAt(BucketPlan.WATERMARK_AT)) {
      long watermark = Math.floorDiv(row.getLong(BucketPlan.WATERMARK_AT), 1000L);
      if (Millis.plus(eventMs, within) <= watermark) {
        return one(late(row, bucket, eventMs, watermark - eventMs));
      }
    }
    Parcel[] parcels =
        waiting.computeIfAbsent(row.getLong(BucketPlan.KNOT_AT), each -> new Parcel[buckets]);
    parcels[bucket] = parcels[bucket] == null ? new Parcel() : parcels[bucket];
    Parcel parcel = parcels[bucket];
    parcel.arrival = isTimeless ? Math.max(parcel.arrival, eventMs) : parcel.arrival;
    parcel.rows.putArray(key.getBytes());
    parcel.rows.putLong(time);
    parcel.rows.putArray(row.getUTF8String(columns.size() - 1).getBytes());
    parcel.rows.putArray(rowOf.write(row).getBytes());
    return NONE;
  }

  @Override
  protected Iterator<Message> end() {
    List<Message> out = new ArrayList<>();
    waiting.forEach(
        (knot, parcels) -> {
          for (int bucket = 0; bucket < buckets; bucket++) {
            Parcel parcel = parcels[bucket];
            if (parcel != null) {
              byte[] rows = parcel.rows.toArray();
              out.add(new Message(bucket, Message.SEGMENT, knot, parcel.arrival, rows));
            }
          }
        });
    waiting.clear();
    return out.iterator();
  }

  private Message late(InternalRow row, int bucket, Long eventMs, long lateness) {
    Blob out = new Blob();
    Long end = eventMs == null ? null : (Long) Millis.plus(eventMs, within);
    lateRow.write(
        columnsOf.write(row), eventMs, end, eventMs == null ? null : (Long) lateness, out);
    return Message.of(bucket, Message.LATE, out.toArray());
  }
}
