package weft.kernel.window.bucket;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.spark.RowWriter;
import weft.kernel.window.state.KeyTable;
import weft.kernel.window.state.KeyWindow;
import weft.kernel.window.state.SlotLayout;
import weft.kernel.window.time.Millis;

/**
 * Writes panes as rows: the window they are of, its key, its aggregates. Gives them out as messages
 * of many rows.
 */
public final class PaneRow {
  static final StructType WINDOW =
      new StructType()
          .add("start", DataTypes.TimestampType)
          .add("end", DataTypes.TimestampType)
          .add("timestamp", DataTypes.TimestampType, false)
          .add("kind", DataTypes.StringType, false)
          .add("revision", DataTypes.IntegerType, false)
          .add("final", DataTypes.BooleanType, false)
          .add("records", DataTypes.LongType, false);

  static final UTF8String EARLY = UTF8String.fromString("early");
  static final UTF8String ON_TIME = UTF8String.fromString("on_time");
  static final UTF8String LATE = UTF8String.fromString("late");

  /** Bytes of one message: large enough to be few, small enough to be copied without thought. */
  private static final int MOST_BYTES = 1 << 20;

  private final SlotLayout layout;
  private final RowWriter whole;
  private final GenericInternalRow window = new GenericInternalRow(WINDOW.size());
  private final GenericInternalRow head = new GenericInternalRow(new Object[] {window});
  private final GenericInternalRow results;
  private final UnsafeRow key;
  private final JoinedRow keyed = new JoinedRow();
  private final JoinedRow joined = new JoinedRow();
  private Blob out = new Blob();
  private long panes;
  private final List<byte[]> full = new ArrayList<>();

  PaneRow(WindowTask task) {
    this.layout = task.layout();
    this.whole = RowWriter.of(task.paneType());
    this.results = new GenericInternalRow(layout.accumulators.length);
    this.key = new UnsafeRow(task.keyType().size());
  }

  public static StructType type(StructType keys, SlotLayout layout) {
    StructType type = new StructType().add("window", WINDOW, false);
    for (StructField field : keys.fields()) {
      type = type.add(field);
    }
    for (int at = 0; at < layout.accumulators.length; at++) {
      type = type.add(layout.aggregates.get(at).name(), layout.accumulators[at].type());
    }
    return type;
  }

  /** Sets what the next panes have in common; a global window has neither start nor end. */
  PaneRow of(Long startMs, Long endMs, boolean isFinal) {
    window.update(0, startMs == null ? null : Millis.toMicros(startMs));
    window.update(1, endMs == null ? null : Millis.toMicros(endMs));
    window.update(5, isFinal);
    return this;
  }

  void write(KeyTable table, int entry, UTF8String kind, int revision, long timestampMs) {
    key.pointTo(
        table.keys(),
        (long) Platform.BYTE_ARRAY_OFFSET + table.keyAt(entry),
        table.keyLength(entry));
    int l = entry * layout.longs;
    write(
        table.longs(),
        l,
        table.objects(),
        entry * layout.objects,
        table.missing(),
        kind,
        revision,
        timestampMs);
  }

  void write(KeyWindow of, byte[] keyBytes, UTF8String kind, long timestampMs) {
    key.pointTo(keyBytes, keyBytes.length);
    write(of.longs, 0, of.objects, 0, of.missing, kind, of.revision, timestampMs);
  }

  private void write(
      long[] longs,
      int l,
      Object[] objects,
      int o,
      long missing,
      UTF8String kind,
      int revision,
      long timestampMs) {
    long records = longs[l + SlotLayout.RECORDS];
    window.update(2, Millis.toMicros(timestampMs));
    window.update(3, kind);
    window.update(4, revision);
    window.update(6, records);
    for (int at = 0; at < layout.accumulators.length; at++) {
      Object value =
          (missing >> at & 1) != 0
              ? null
              : layout.accumulators[at].result(
                  records, longs, l + layout.longAt[at], objects, o + layout.objectAt[at]);
      results.update(at, value);
    }
    UnsafeRow row = whole.write(joined.apply(keyed.apply(head, key), results));
    out.putLong(row.getSizeInBytes());
    out.putRaw(row.getBaseObject(), row.getBaseOffset(), row.getSizeInBytes());
    panes++;
    if (out.position() > MOST_BYTES) {
      full.add(out.toArray());
      out = new Blob();
    }
  }

  long panes() {
    return panes;
  }

  /** The messages of all panes written, which are then forgotten. */
  List<byte[]> messages() {
    if (out.position() > 0) {
      full.add(out.toArray());
      out = new Blob();
    }
    List<byte[]> messages = new ArrayList<>(full);
    full.clear();
    panes = 0;
    return messages;
  }
}
