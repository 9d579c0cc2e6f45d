package weft.kernel.window.aggregate;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import weft.kernel.bytes.Blob;

/**
 * Exact sum or mean of decimals of more than 28 digits. A sum that does not fit its type is null.
 */
final class BigSum extends Accumulator {
  private static final long serialVersionUID = 1;

  private final int argument;
  private final DecimalType input;
  private final DecimalType type;
  private final boolean isMean;

  BigSum(int argument, DecimalType input, boolean isMean) {
    super(1, 1);
    this.argument = argument;
    this.input = input;
    this.isMean = isMean;
    this.type = (DecimalType) (isMean ? WholeSum.meanType(input) : WholeSum.sumType(input));
  }

  @Override
  public DataType type() {
    return type;
  }

  @Override
  public void add(
      long[] longs, int l, Object[] objects, int o, InternalRow row, Standing standing) {
    if (!row.isNullAt(argument)) {
      longs[l]++;
      plus(objects, o, value(row));
    }
  }

  @Override
  public void subtract(long[] longs, int l, Object[] objects, int o, InternalRow row) {
    if (!row.isNullAt(argument)) {
      longs[l]--;
      plus(objects, o, value(row).negate());
    }
  }

  private BigInteger value(InternalRow row) {
    return row.getDecimal(argument, input.precision(), input.scale())
        .toJavaBigDecimal()
        .unscaledValue();
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
    if (others[oo] != null) {
      plus(objects, o, (BigInteger) others[oo]);
    }
  }

  private static void plus(Object[] objects, int o, BigInteger value) {
    objects[o] = objects[o] == null ? value : ((BigInteger) objects[o]).add(value);
  }

  @Override
  public Object result(long records, long[] longs, int l, Object[] objects, int o) {
    if (longs[l] == 0) {
      return null;
    }
    BigDecimal sum = new BigDecimal((BigInteger) objects[o], input.scale());
    return isMean ? WholeSum.mean(sum, longs[l], type) : WholeSum.ofType(sum, type);
  }

  @Override
  public void write(Object value, Blob out) {
    out.putArray(value == null ? null : ((BigInteger) value).toByteArray());
  }

  @Override
  public Object read(Blob in) {
    byte[] bytes = in.getArray();
    return bytes == null ? null : new BigInteger(bytes);
  }
}
