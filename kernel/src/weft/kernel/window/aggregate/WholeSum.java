package weft.kernel.window.aggregate;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;

/**
 * Sum or mean of whole numbers and of decimals of up to 28 digits, exact in 128 bits.
 *
 * <p>Slots: how many values, then the low and the high word of their sum. A sum that does not fit
 * its type is null.
 */
final class WholeSum extends Accumulator {
  private static final long serialVersionUID = 1;
  private static final int MOST_DIGITS = 28;

  /** Every whole number up to here is a double. */
  private static final long LARGEST_EXACT = 1L << 53;

  private static final BigInteger WORD = BigInteger.ONE.shiftLeft(Long.SIZE);

  private final int argument;
  private final DataType input;
  private final DataType type;
  private final boolean isMean;

  WholeSum(int argument, DataType input, boolean isMean) {
    super(3, 0);
    this.argument = argument;
    this.input = input;
    this.isMean = isMean;
    this.type = isMean ? meanType(input) : sumType(input);
  }

  static boolean takes(DataType input) {
    return input.equals(DataTypes.LongType)
        || input instanceof DecimalType decimal && decimal.precision() <= MOST_DIGITS;
  }

  static DataType sumType(DataType input) {
    if (input instanceof DecimalType decimal) {
      return new DecimalType(
          Math.min(DecimalType.MAX_PRECISION(), decimal.precision() + 10), decimal.scale());
    }
    return DataTypes.LongType;
  }

  static DataType meanType(DataType input) {
    if (input instanceof DecimalType decimal) {
      int most = DecimalType.MAX_PRECISION();
      return new DecimalType(
          Math.min(most, decimal.precision() + 4), Math.min(most, decimal.scale() + 4));
    }
    return DataTypes.DoubleType;
  }

  @Override
  public DataType type() {
    return type;
  }

  @Override
  public void add(
      long[] longs, int l, Object[] objects, int o, InternalRow row, Standing standing) {
    if (row.isNullAt(argument)) {
      return;
    }
    longs[l]++;
    if (isWide()) {
      BigInteger whole = wide(row);
      plus(longs, l, whole.longValue(), whole.shiftRight(Long.SIZE).longValue());
    } else {
      // A decimal of up to 18 digits is a long in the row too.
      long value = row.getLong(argument);
      plus(longs, l, value, value >> (Long.SIZE - 1));
    }
  }

  private boolean isWide() {
    return input instanceof DecimalType decimal
        && decimal.precision() > Decimal.MAX_LONG_DIGITS();
  }

  private BigInteger wide(InternalRow row) {
    DecimalType decimal = (DecimalType) input;
    return row.getDecimal(argument, decimal.precision(), decimal.scale())
        .toJavaBigDecimal()
        .unscaledValue();
  }

  @Override
  public void subtract(long[] longs, int l, Object[] objects, int o, InternalRow row) {
    if (row.isNullAt(argument)) {
      return;
    }
    longs[l]--;
    BigInteger less = isWide() ? wide(row) : BigInteger.valueOf(row.getLong(argument));
    BigInteger more = less.negate();
    plus(longs, l, more.longValue(), more.shiftRight(Long.SIZE).longValue());
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
    longs[l] += otherLongs[ol];
    plus(longs, l, otherLongs[ol + 1], otherLongs[ol + 2]);
  }

  private static void plus(long[] longs, int l, long low, long high) {
    long sum = longs[l + 1] + low;
    longs[l + 2] += high + (Long.compareUnsigned(sum, low) < 0 ? 1 : 0);
    longs[l + 1] = sum;
  }

  @Override
  public Object result(long records, long[] longs, int l, Object[] objects, int o) {
    long count = longs[l];
    if (count == 0) {
      return null;
    }
    long low = longs[l + 1];
    long high = longs[l + 2];
    boolean fits = high == low >> (Long.SIZE - 1);
    if (type instanceof DecimalType decimal) {
      int scale = ((DecimalType) input).scale();
      if (!isMean && fits && decimal.precision() > Decimal.MAX_LONG_DIGITS()) {
        return Decimal.createUnsafe(low, decimal.precision(), decimal.scale());
      }
      BigDecimal sum = new BigDecimal(whole(low, high), scale);
      return isMean ? mean(sum, count, decimal) : ofType(sum, decimal);
    }
    if (isMean) {
      boolean isDouble = fits && Math.abs(low) <= LARGEST_EXACT && low != Long.MIN_VALUE;
      return isDouble ? (double) low / count : Nearest.mean(whole(low, high), count, 0);
    }
    return fits ? (Object) low : null;
  }

  static Object mean(BigDecimal sum, long count, DecimalType type) {
    return ofType(sum.divide(BigDecimal.valueOf(count), type.scale(), RoundingMode.HALF_UP), type);
  }

  static Object ofType(BigDecimal value, DecimalType type) {
    if (value.precision() > type.precision()) {
      return null;
    }
    return Decimal.apply(value, type.precision(), type.scale());
  }

  private static BigInteger whole(long low, long high) {
    BigInteger value = BigInteger.valueOf(high).shiftLeft(Long.SIZE).add(BigInteger.valueOf(low));
    return low < 0 ? value.add(WORD) : value;
  }
}
