package weft.kernel.window.aggregate;

import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import weft.kernel.bytes.Blob;

/**
 * The value of one record, picked by an order: first, last, max_by, min_by, and the extremes of
 * values of any type.
 *
 * <p>First and last go by event time, then knot, then id; max_by and min_by take the first record
 * of the best.
 */
final class Pick extends Accumulator {
  private static final long serialVersionUID = 1;

  private final Tuple tuple;
  private final int[] leading;
  private final int[] trailing;
  private final DataType type;
  private final boolean takesLast;
  private final int skipNullOf;
  private final boolean isOrdered;
  private transient Comparator<byte[]> order;

  private Pick(
      Tuple tuple,
      int[] leading,
      int[] trailing,
      DataType type,
      boolean takesLast,
      int skipNullOf,
      boolean isOrdered) {
    super(0, 1);
    this.tuple = tuple;
    this.leading = leading;
    this.trailing = trailing;
    this.type = type;
    this.takesLast = takesLast;
    this.skipNullOf = skipNullOf;
    this.isOrdered = isOrdered;
  }

  static Pick first(int argument, DataType type, boolean takesLast, boolean skipsNulls) {
    Tuple tuple = new Tuple(List.of(), false, true, List.of(type));
    return new Pick(
        tuple, new int[0], new int[] {argument}, type, takesLast, skipsNulls ? argument : -1, true);
  }

  static Pick by(int argument, DataType type, int by, DataType byType, boolean isLargest) {
    Tuple tuple = new Tuple(List.of(byType), isLargest, true, List.of(type));
    return new Pick(tuple, new int[] {by}, new int[] {argument}, type, false, by, true);
  }

  static Pick extreme(int argument, DataType type, boolean isLargest) {
    Tuple tuple = new Tuple(List.of(type), isLargest, false, List.of());
    return new Pick(tuple, new int[] {argument}, new int[0], type, false, argument, false);
  }

  @Override
  public boolean isOrdered() {
    return isOrdered;
  }

  @Override
  public DataType type() {
    return type;
  }

  @Override
  public void add(
      long[] longs, int l, Object[] objects, int o, InternalRow row, Standing standing) {
    if (skipNullOf < 0 || !row.isNullAt(skipNullOf)) {
      take(objects, o, tuple.make(row, leading, standing, trailing));
    }
  }

  @Override
  public void merge(
      long[] longs,
      int l,
      Object[] objects,
      int o,
      long[] otherLongs,
      int ol,
      Object[] others,
      int oo) {
    if (others[oo] != null) {
      take(objects, o, (byte[]) others[oo]);
    }
  }

  private void take(Object[] objects, int o, byte[] candidate) {
    if (order == null) {
      order = takesLast ? tuple.order().reversed() : tuple.order();
    }
    if (objects[o] == null || order.compare(candidate, (byte[]) objects[o]) < 0) {
      objects[o] = candidate;
    }
  }

  @Override
  public Object result(long records, long[] longs, int l, Object[] objects, int o) {
    return objects[o] == null ? null : tuple.last((byte[]) objects[o]);
  }

  @Override
  public void write(Object value, Blob out) {
    out.putArray((byte[]) value);
  }

  @Override
  public Object read(Blob in) {
    return in.getArray();
  }
}
