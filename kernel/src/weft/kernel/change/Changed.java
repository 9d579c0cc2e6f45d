package weft.kernel.change;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.spark.RowBytes;
import weft.kernel.spark.RowWriter;

/**
 * A row of a table at one position of the database's log: as a change brings it, and as it is kept.
 *
 * @param key the key of the row
 * @param position its place in the log, whose bytes sort as changes happened; null when unknown
 * @param knot the knot that brought it
 * @param offset where it stood in that knot
 * @param row the columns, or null when the row is gone
 * @param kept the numbers of columns that the change has left out because they stayed as they were
 * @param keptFrom the position of the change that the value of each of these is taken from; empty
 *     for none yet
 */
record Changed(
    byte[] key,
    byte[] position,
    long knot,
    long offset,
    byte[] row,
    int[] kept,
    byte[][] keptFrom) {
  static final int[] NOTHING_KEPT = {};
  private static final byte[][] NO_POSITIONS = {};
  private static final byte[] NOWHERE = {};

  /** Comes before every position that is known. */
  private static final byte[] UNKNOWN = {0};

  /** A change as it comes from a stream. */
  static Changed of(byte[] key, byte[] position, long knot, long offset, byte[] row, int[] kept) {
    byte[][] from = kept.length == 0 ? NO_POSITIONS : new byte[kept.length][];
    Arrays.fill(from, NOWHERE);
    return new Changed(key, position, knot, offset, row, kept, from);
  }

  /** When it happened, and nothing else of it: what a sweep is remembered by. */
  Changed asMark() {
    return of(new byte[0], position, knot, offset, null, NOTHING_KEPT);
  }

  boolean isAlive() {
    return row != null;
  }

  UTF8String name() {
    return UTF8String.fromBytes(key);
  }

  /** Whether it happened before another one of the same row; if equal, what came first did. */
  boolean isBefore(Changed other) {
    int order =
        position == null || other.position == null
            ? 0
            : Arrays.compareUnsigned(position, other.position);
    if (order != 0) {
      return order < 0;
    }
    return knot != other.knot ? knot < other.knot : offset < other.offset;
  }

  /** Whether a row, or a sweep, was before this one, which has emptied the table. */
  boolean sweeps(Changed other) {
    if (position != null && other.position != null) {
      return Arrays.compareUnsigned(other.position, position) < 0;
    }
    return other.knot != knot ? other.knot < knot : other.offset < offset;
  }

  /**
   * The same with the columns that it has left out taken from another change of the row.
   *
   * @param isLate whether the other comes after its turn, so that only what was older is replaced
   */
  Changed takeOver(Changed other, StructType type, RowWriter writer, boolean isLate) {
    if (kept.length == 0 || row == null || other.row == null) {
      return this;
    }
    InternalRow mine = RowBytes.reading(row, type.size());
    InternalRow theirs = RowBytes.reading(other.row, type.size());
    Object[] values = new Object[type.size()];
    for (int at = 0; at < values.length; at++) {
      values[at] = mine.get(at, type.fields()[at].dataType());
    }
    byte[][] from = keptFrom.clone();
    for (int at = 0; at < kept.length; at++) {
      byte[] source = other.sourceOf(kept[at]);
      if (source == NOWHERE || (isLate && Arrays.compareUnsigned(source, from[at]) <= 0)) {
        continue;
      }
      values[kept[at]] = theirs.get(kept[at], type.fields()[kept[at]].dataType());
      from[at] = source;
    }
    byte[] filled = writer.toBytes(new GenericInternalRow(values));
    return new Changed(key, position, knot, offset, filled, kept, from);
  }

  /** The position of the change that a column's value is from. */
  private byte[] sourceOf(int column) {
    for (int at = 0; at < kept.length; at++) {
      if (kept[at] == column) {
        return keptFrom[at].length == 0 ? NOWHERE : keptFrom[at];
      }
    }
    return position == null ? UNKNOWN : position;
  }

  void write(Blob out) {
    out.putArray(key);
    out.putArray(position);
    out.putLong(knot);
    out.putLong(offset);
    out.putArray(row);
    out.putInt(kept.length);
    for (int at = 0; at < kept.length; at++) {
      out.putInt(kept[at]);
      out.putArray(keptFrom[at]);
    }
  }

  static Changed read(Blob in) {
    byte[] key = in.getArray();
    byte[] position = in.getArray();
    long knot = in.getLong();
    long offset = in.getLong();
    byte[] row = in.getArray();
    int count = in.getInt();
    int[] kept = count == 0 ? NOTHING_KEPT : new int[count];
    byte[][] from = count == 0 ? NO_POSITIONS : new byte[count][];
    for (int at = 0; at < count; at++) {
      kept[at] = in.getInt();
      from[at] = in.getArray();
    }
    return new Changed(key, position, knot, offset, row, kept, from);
  }
}
