package weft.kernel.window;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Writes a late record as a row: its columns, the bounds of the window it missed, its lateness, its
 * position.
 */
final class LateRow {
  private final UnsafeProjection whole;
  private final GenericInternalRow added = new GenericInternalRow(3);
  private final JoinedRow joined = new JoinedRow();

  LateRow(StructType type) {
    this.whole = UnsafeProjection.create(CollectionConverters.asScala(places(type)).toList());
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
  static StructType type(StructType stream) {
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

  private static List<Expression> places(StructType type) {
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
    List<Expression> places = new ArrayList<>();
    for (int at = 0; at < fields.length; at++) {
      places.add(new BoundReference(from[at], fields[at].dataType(), true));
    }
    return places;
  }

  /**
   * Appends one late row, given the columns of the stream and then its position; one without an
   * event time misses no window and has no lateness.
   */
  void write(InternalRow columns, Long startMs, Long endMs, Long lateness, Blob out) {
    added.update(0, startMs == null ? null : Millis.toMicros(startMs));
    added.update(1, endMs == null ? null : Millis.toMicros(endMs));
    added.update(2, lateness);
    UnsafeRow written = whole.apply(joined.apply(columns, added));
    out.putLong(written.getSizeInBytes());
    out.putRaw(written.getBaseObject(), written.getBaseOffset(), written.getSizeInBytes());
  }
}
