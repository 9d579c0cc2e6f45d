package weft.kernel.window.aggregate;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** How many records there are, or how many whose argument is not null. */
final class Count extends Accumulator {
  private static final long serialVersionUID = 1;

  private final int argument;

  private Count(int argument) {
    super(argument < 0 ? 0 : 1, 0);
    this.argument = argument;
  }

  static Count ofRecords() {
    return new Count(-1);
  }

  static Count ofValues(int argument) {
    return new Count(argument);
  }

  @Override
  public DataType type() {
    return DataTypes.LongType;
  }

  @Override
  public void add(
      long[] longs, int l, Object[] objects, int o, InternalRow row, Standing standing) {
    if (argument >= 0 && !row.isNullAt(argument)) {
      longs[l]++;
    }
  }

  @Override
  public void subtract(long[] longs, int l, Object[] objects, int o, InternalRow row) {
    if (argument >= 0 && !row.isNullAt(argument)) {
      longs[l]--;
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
    if (argument >= 0) {
      longs[l] += otherLongs[ol];
    }
  }

  @Override
  public Object result(long records, long[] longs, int l, Object[] objects, int o) {
    return argument < 0 ? records : longs[l];
  }
}
