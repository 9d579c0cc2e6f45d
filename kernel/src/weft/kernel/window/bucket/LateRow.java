package weft.kernel.window.bucket;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import weft.kernel.bytes.Blob;
import weft.kernel.spark.RowWriter;
import weft.kernel.window.time.Millis;

/**
 * Writes a late record as a row: its columns, the bounds of the window it missed, its lateness, its
 * position.
 */
public final class LateRow {
  private final RowWriter whole;
  private final GenericInternalRow added = new GenericInternalRow(3);
  private final JoinedRow joined = new JoinedRow();

  public LateRow(StructType type) {
    this.whole = RowWriter.picking(type, places(type));
  }

  /**
   * The same late row with another lateness: that by the watermark of the operator which judged it.
   */
  static byte[] behind(byte[] written, StructType type, long lateness) {
    UnsafeRow row = new UnsafeRow(type.size());
    row.pointTo(written, Platform.BYTE_ARRAY_OFFSET + Long.BYTES, written.length - Long.BYTES);
    row.setLong(type.fieldIndex("lateness_ms"), lateness);
    return written;
  }

  /** The columns of a stream with what a late row adds, before the struct that comes last. */
  public static StructType type(StructType stream) {
    StructType type = new StructType();
    int last = stream.size() - 1;
    for (int at = 0; at < last; at++) {
      type = type.add(stream.fields()[at]);
    }
    return type.add("window_start", DataTypes.TimestampType)
        .add("window_end", DataTypes.TimestampType)
        .add("lateness_ms", DataTypes.LongType)
        .add("position", DataTypes.StringType)
        .add(stream.fields()[last]);
  }

  private static int[] places(StructType type) {
    StructField[] fields = type.fields();
    int own = fields.length - 5;
    int[] from = new int[fields.length];
    for (int at = 0; at < own; at++) {
      from[at] = at;
    }
    int weft = own;
    int position = own + 1;
    int firstAdded = own + 2;
    from[own] = firstAdded;
    from[own + 1] = firstAdded + 1;
    from[own + 2] = firstAdded + 2;
    from[own + 3] = position;
    from[own + 4] = weft;
    return from;
  }

  /**
   * Appends one late row, given the columns of the stream and then its position; one without an
   * event time misses no window and has no lateness.
   */
  public void write(InternalRow columns, Long startMs, Long endMs, Long lateness, Blob out) {
    added.update(0, startMs == null ? null : Millis.toMicros(startMs));
    added.update(1, endMs == null ? null : Millis.toMicros(endMs));
    added.update(2, lateness);
    UnsafeRow written = whole.write(joined.apply(columns, added));
    out.putLong(written.getSizeInBytes());
    out.putRaw(written.getBaseObject(), written.getBaseOffset(), written.getSizeInBytes());
  }
}
