package weft.kernel.window.aggregate;

import java.math.BigInteger;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import weft.kernel.bytes.Blob;

/**
 * Sum or mean of doubles, exact until it is told: a whole number of the least double there is, so
 * that whatever was added can be taken out again.
 *
 * <p>Slots: how many values; how many of them are not numbers, positive and negative infinities;
 * the sum of the others.
 */
final class ExactSum extends Accumulator {
  private static final long serialVersionUID = 1;
  private static final int NANS = 1;
  private static final int HIGHEST = 2;
  private static final int LOWEST = 3;

  /** The least double is two to the power of minus this. */
  private static final int UNIT = 1074;

  private static final int MANTISSA_BITS = 52;

  private final int argument;
  private final boolean isMean;

  ExactSum(int argument, boolean isMean) {
    super(4, 1);
    this.argument = argument;
    this.isMean = isMean;
  }

  @Override
  public DataType type() {
    return DataTypes.DoubleType;
  }

  @Override
  public void add(
      long[] longs, int l, Object[] objects, int o, InternalRow row, Standing standing) {
    take(longs, l, objects, o, row, 1);
  }

  @Override
  public void subtract(long[] longs, int l, Object[] objects, int o, InternalRow row) {
    take(longs, l, objects, o, row, -1);
  }

  private void take(long[] longs, int l, Object[] objects, int o, InternalRow row, int times) {
    if (row.isNullAt(argument)) {
      return;
    }
    double value = row.getDouble(argument);
    longs[l] += times;
    if (Double.isNaN(value)) {
      longs[l + NANS] += times;
    } else if (Double.isInfinite(value)) {
      longs[l + (value > 0 ? HIGHEST : LOWEST)] += times;
    } else {
      plus(objects, o, times > 0 ? whole(value) : whole(value).negate());
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
    for (int at = 0; at < longs(); at++) {
      longs[l + at] += otherLongs[ol + at];
    }
    if (others[oo] != null) {
      plus(objects, o, (BigInteger) others[oo]);
    }
  }

  private static void plus(Object[] objects, int o, BigInteger value) {
    objects[o] = objects[o] == null ? value : ((BigInteger) objects[o]).add(value);
  }

  /** A finite double in units. */
  private static BigInteger whole(double value) {
    long bits = Double.doubleToRawLongBits(value);
    int exponent = (int) (bits >> MANTISSA_BITS) & 0x7ff;
    long fraction = bits & (1L << MANTISSA_BITS) - 1;
    long mantissa = exponent == 0 ? fraction : fraction | 1L << MANTISSA_BITS;
    BigInteger size = BigInteger.valueOf(mantissa).shiftLeft(Math.max(exponent - 1, 0));
    return bits < 0 ? size.negate() : size;
  }

  @Override
  public Object result(long records, long[] longs, int l, Object[] objects, int o) {
    long count = longs[l];
    if (count == 0) {
      return null;
    }
    boolean isHigh = longs[l + HIGHEST] > 0;
    boolean isLow = longs[l + LOWEST] > 0;
    if (longs[l + NANS] > 0 || isHigh && isLow) {
      return Double.NaN;
    }
    if (isHigh || isLow) {
      return isHigh ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY;
    }
    BigInteger units = (BigInteger) objects[o];
    return isMean ? Nearest.mean(units, count, UNIT) : Nearest.sum(units);
  }

  @Override
  public void write(Object value, Blob out) {
    BigInteger units = value == null ? BigInteger.ZERO : (BigInteger) value;
    int zeros = Math.max(0, units.getLowestSetBit());
    out.putInt(zeros);
    out.putArray(units.shiftRight(zeros).toByteArray());
  }

  @Override
  public Object read(Blob in) {
    int zeros = in.getInt();
    return new BigInteger(in.getArray()).shiftLeft(zeros);
  }
}
