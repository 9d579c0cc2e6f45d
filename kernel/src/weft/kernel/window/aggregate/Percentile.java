package weft.kernel.window.aggregate;

import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.ShortType;
import weft.kernel.bytes.Blob;

/**
 * Values at given shares of the sorted records: exact up to {@value #EXACT} different values, then
 * grouped so that the answer is within 0.4 percent of the true value. Which of the two it is
 * depends on the values alone.
 *
 * <p>The quantile sketches of Apache DataSketches, KLL and REQ, choose at random what they keep,
 * and a pane must be the same when its batch runs again. They bound the rank of an answer and not
 * its distance from the true value.
 *
 * <p>Values are doubles, so whole numbers beyond 2^53 lose their last digits.
 */
final class Percentile extends Accumulator {
  private static final long serialVersionUID = 1;
  private static final int EXACT = 4096;
  private static final int KEPT_BITS = 7;
  private static final long GROUP = -1L << (52 - KEPT_BITS);
  private static final long MIDDLE = 1L << (52 - KEPT_BITS - 1);

  private final int argument;
  private final DataType input;
  private final double[] shares;
  private final boolean isMany;

  /** How often each value came; in groups once there were too many different ones. */
  private static final class Histogram {
    private final TreeMap<Double, Long> counts = new TreeMap<>();
    private boolean isGrouped;

    void take(double value, long times) {
      counts.merge(isGrouped ? group(value) : value, times, Long::sum);
      if (!isGrouped && counts.size() > EXACT) {
        regroup();
      }
    }

    void regroup() {
      isGrouped = true;
      Map<Double, Long> before = new TreeMap<>(counts);
      counts.clear();
      before.forEach((value, times) -> counts.merge(group(value), times, Long::sum));
    }

    private static double group(double value) {
      if (value == 0 || !Double.isFinite(value)) {
        return value;
      }
      return Double.longBitsToDouble((Double.doubleToRawLongBits(value) & GROUP) | MIDDLE);
    }
  }

  Percentile(int argument, DataType input, double[] shares, boolean isMany) {
    super(0, 1);
    this.argument = argument;
    this.input = input;
    this.shares = shares;
    this.isMany = isMany;
  }

  @Override
  public DataType type() {
    return isMany ? new ArrayType(input, false) : input;
  }

  @Override
  public void add(
      long[] longs, int l, Object[] objects, int o, InternalRow row, Standing standing) {
    if (!row.isNullAt(argument)) {
      histogram(objects, o).take(toDouble(row.get(argument, input)), 1);
    }
  }

  private static double toDouble(Object value) {
    double number =
        value instanceof Decimal decimal ? decimal.toDouble() : ((Number) value).doubleValue();
    return number == 0 ? 0.0 : number;
  }

  private static Histogram histogram(Object[] objects, int o) {
    if (objects[o] == null) {
      objects[o] = new Histogram();
    }
    return (Histogram) objects[o];
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
    if (others[oo] == null) {
      return;
    }
    Histogram ours = histogram(objects, o);
    Histogram other = (Histogram) others[oo];
    if (other.isGrouped && !ours.isGrouped) {
      ours.regroup();
    }
    other.counts.forEach(ours::take);
  }

  @Override
  public Object result(long records, long[] longs, int l, Object[] objects, int o) {
    if (objects[o] == null) {
      return null;
    }
    Object[] values = new Object[shares.length];
    for (int at = 0; at < shares.length; at++) {
      values[at] = fromDouble(at(((Histogram) objects[o]).counts, shares[at]));
    }
    return isMany ? new GenericArrayData(values) : values[0];
  }

  private static double at(TreeMap<Double, Long> counts, double share) {
    long all = counts.values().stream().mapToLong(Long::longValue).sum();
    long rank = Math.max(1, (long) Math.ceil(share * all));
    long seen = 0;
    for (Map.Entry<Double, Long> each : counts.entrySet()) {
      seen += each.getValue();
      if (seen >= rank) {
        return each.getKey();
      }
    }
    return counts.lastKey();
  }

  private Object fromDouble(double value) {
    if (input instanceof DoubleType) {
      return value;
    } else if (input instanceof FloatType) {
      return (float) value;
    } else if (input instanceof IntegerType || input instanceof DateType) {
      return (int) value;
    } else if (input instanceof ShortType) {
      return (short) value;
    } else if (input instanceof ByteType) {
      return (byte) value;
    } else if (input instanceof DecimalType decimal) {
      return Decimal.apply(
          java.math.BigDecimal.valueOf(value)
              .setScale(decimal.scale(), java.math.RoundingMode.HALF_UP),
          decimal.precision(),
          decimal.scale());
    }
    return (long) value;
  }

  @Override
  public void write(Object value, Blob out) {
    if (value == null) {
      out.putInt(-1);
      return;
    }
    Histogram histogram = (Histogram) value;
    out.putInt(histogram.counts.size());
    out.putInt(histogram.isGrouped ? 1 : 0);
    histogram.counts.forEach(
        (each, times) -> {
          out.putLong(Double.doubleToRawLongBits(each));
          out.putLong(times);
        });
  }

  @Override
  public Object read(Blob in) {
    int size = in.getInt();
    if (size < 0) {
      return null;
    }
    Histogram histogram = new Histogram();
    histogram.isGrouped = in.getInt() == 1;
    for (; size > 0; size--) {
      histogram.counts.put(Double.longBitsToDouble(in.getLong()), in.getLong());
    }
    return histogram;
  }
}
