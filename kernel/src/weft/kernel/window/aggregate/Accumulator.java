package weft.kernel.window.aggregate;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import weft.kernel.bytes.Blob;

/**
 * One aggregate as a triple of partial, merge and final over slots of a table of keys.
 *
 * <p>All slots zero, or null, is the aggregate of no records. Results do not depend on the order in
 * which records and partials come, so that a pane is the same however its batches were cut.
 */
public abstract class Accumulator implements Serializable {
  private static final long serialVersionUID = 1;

  private final int longs;
  private final int objects;

  /** An accumulator that takes so many slots of each kind. */
  protected Accumulator(int longs, int objects) {
    this.longs = longs;
    this.objects = objects;
  }

  /** How many long slots the accumulator takes. */
  public final int longs() {
    return longs;
  }

  /** How many object slots the accumulator takes. */
  public final int objects() {
    return objects;
  }

  /** Whether the order of records matters, so that their ids are needed. */
  public boolean isOrdered() {
    return false;
  }

  public abstract DataType type();

  /** Takes one record in: its arguments are columns of `row`. */
  public abstract void add(
      long[] longs, int l, Object[] objects, int o, InternalRow row, Standing standing);

  /** Takes one record out again that was taken in, where {@link Aggregate#retractable} gave it. */
  public void subtract(long[] longs, int l, Object[] objects, int o, InternalRow row) {
    throw new UnsupportedOperationException("This aggregate takes no record out again.");
  }

  /** Takes another accumulator in, which may not be used afterwards. */
  public abstract void merge(
      long[] longs,
      int l,
      Object[] objects,
      int o,
      long[] otherLongs,
      int ol,
      Object[] others,
      int oo);

  /** The value of the accumulator over this many records, as Catalyst holds it. */
  public abstract Object result(long records, long[] longs, int l, Object[] objects, int o);

  public void write(Object value, Blob out) {
    throw new UnsupportedOperationException("This aggregate has no object slots.");
  }

  public Object read(Blob in) {
    throw new UnsupportedOperationException("This aggregate has no object slots.");
  }
}
