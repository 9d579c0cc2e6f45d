package weft.kernel.window.aggregate;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/**
 * Smallest or largest of values that fit a long: whole numbers, doubles, dates, timestamps,
 * booleans.
 */
final class Extreme extends Accumulator {
  private static final long serialVersionUID = 1;

  private final int argument;
  private final DataType type;
  private final boolean isLargest;

  Extreme(int argument, DataType type, boolean isLargest) {
    super(2, 0);
    this.argument = argument;
    this.type = type;
    this.isLargest = isLargest;
  }

  static boolean takes(DataType type) {
    return type instanceof LongType
        || type instanceof IntegerType
        || type instanceof ShortType
        || type instanceof ByteType
        || type instanceof DoubleType
        || type instanceof FloatType
        || type instanceof DateType
        || type instanceof TimestampType
        || type instanceof TimestampNTZType
        || type instanceof BooleanType;
  }

  @Override
  public DataType type() {
    return type;
  }

  @Override
  public void add(
      long[] longs, int l, Object[] objects, int o, InternalRow row, Standing standing) {
    if (!row.isNullAt(argument)) {
      take(longs, l, encode(row));
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
    if (otherLongs[ol] != 0) {
      take(longs, l, otherLongs[ol + 1]);
    }
  }

  private void take(long[] longs, int l, long value) {
    if (longs[l] == 0 || (isLargest ? value > longs[l + 1] : value < longs[l + 1])) {
      longs[l] = 1;
      longs[l + 1] = value;
    }
  }

  private long encode(InternalRow row) {
    if (type instanceof DoubleType) {
      return ordered(row.getDouble(argument));
    } else if (type instanceof FloatType) {
      return ordered(row.getFloat(argument));
    } else if (type instanceof IntegerType || type instanceof DateType) {
      return row.getInt(argument);
    } else if (type instanceof ShortType) {
      return row.getShort(argument);
    } else if (type instanceof ByteType) {
      return row.getByte(argument);
    } else if (type instanceof BooleanType) {
      return row.getBoolean(argument) ? 1 : 0;
    }
    return row.getLong(argument);
  }

  /** Bits of a double in the order of SQL: NaN is the largest, both zeros are one. */
  private static long ordered(double value) {
    long bits = Double.doubleToLongBits(value == 0 ? 0.0 : value);
    return bits ^ ((bits >> (Long.SIZE - 1)) & Long.MAX_VALUE);
  }

  private static double unordered(long bits) {
    return Double.longBitsToDouble(bits ^ ((bits >> (Long.SIZE - 1)) & Long.MAX_VALUE));
  }

  @Override
  public Object result(long records, long[] longs, int l, Object[] objects, int o) {
    if (longs[l] == 0) {
      return null;
    }
    long value = longs[l + 1];
    if (type instanceof DoubleType) {
      return unordered(value);
    } else if (type instanceof FloatType) {
      return (float) unordered(value);
    } else if (type instanceof IntegerType || type instanceof DateType) {
      return (int) value;
    } else if (type instanceof ShortType) {
      return (short) value;
    } else if (type instanceof ByteType) {
      return (byte) value;
    } else if (type instanceof BooleanType) {
      return value == 1;
    }
    return value;
  }
}
