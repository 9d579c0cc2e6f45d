package weft.kernel.window.aggregate;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * Sum, mean, variance and standard deviation of doubles.
 *
 * <p>Sums are pairs of doubles, of which the second holds what the first cannot: about 106 bits, so
 * that the rounded result does not depend on the order of the records. Slots: how many values;
 * their sum; the sum of their squares.
 */
final class Moments extends Accumulator {
  private static final long serialVersionUID = 1;

  /** What is told of the values. */
  enum Figure {
    SUM,
    MEAN,
    VARIANCE,
    VARIANCE_OF_ALL,
    DEVIATION,
    DEVIATION_OF_ALL
  }

  private final int argument;
  private final Figure figure;
  private final boolean hasSquares;

  Moments(int argument, Figure figure) {
    super(hasSquares(figure) ? 5 : 3, 0);
    this.argument = argument;
    this.figure = figure;
    this.hasSquares = hasSquares(figure);
  }

  private static boolean hasSquares(Figure figure) {
    return figure != Figure.SUM && figure != Figure.MEAN;
  }

  @Override
  public DataType type() {
    return DataTypes.DoubleType;
  }

  @Override
  public void add(
      long[] longs, int l, Object[] objects, int o, InternalRow row, Standing standing) {
    if (row.isNullAt(argument)) {
      return;
    }
    double value = row.getDouble(argument);
    longs[l]++;
    plus(longs, l + 1, value, 0);
    if (hasSquares) {
      double square = value * value;
      plus(longs, l + 3, square, Math.fma(value, value, -square));
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
    longs[l] += otherLongs[ol];
    for (int at = 1; at < longs(); at += 2) {
      double high = Double.longBitsToDouble(otherLongs[ol + at]);
      plus(longs, l + at, high, Double.longBitsToDouble(otherLongs[ol + at + 1]));
    }
  }

  private static void plus(long[] longs, int at, double high, double low) {
    double before = Double.longBitsToDouble(longs[at]);
    double sum = before + high;
    double rest = 0;
    if (Double.isFinite(sum)) {
      double part = sum - before;
      double error =
          (before - (sum - part)) + (high - part) + Double.longBitsToDouble(longs[at + 1]) + low;
      rest = error - ((sum + error) - sum);
      sum += error;
    }
    longs[at] = Double.doubleToRawLongBits(sum);
    longs[at + 1] = Double.doubleToRawLongBits(rest);
  }

  @Override
  public Object result(long records, long[] longs, int l, Object[] objects, int o) {
    long count = longs[l];
    if (count == 0) {
      return null;
    }
    double sum = Double.longBitsToDouble(longs[l + 1]);
    return switch (figure) {
      case SUM -> sum;
      case MEAN -> sum / count;
      case VARIANCE_OF_ALL -> spread(longs, l) / count;
      case DEVIATION_OF_ALL -> Math.sqrt(spread(longs, l) / count);
      case VARIANCE -> count == 1 ? null : (Object) (spread(longs, l) / (count - 1));
      case DEVIATION -> count == 1 ? null : (Object) Math.sqrt(spread(longs, l) / (count - 1));
    };
  }

  /**
   * The sum of the squared distances from the mean: the squares less the squared sum over the
   * count.
   */
  private static double spread(long[] longs, int l) {
    long count = longs[l];
    double sum = Double.longBitsToDouble(longs[l + 1]);
    double sumRest = Double.longBitsToDouble(longs[l + 2]);
    double mean = sum / count;
    double meanRest = (Math.fma(-mean, count, sum) + sumRest) / count;
    double product = sum * mean;
    double productRest = Math.fma(sum, mean, -product) + sum * meanRest + sumRest * mean;
    double squares = Double.longBitsToDouble(longs[l + 3]);
    double squaresRest = Double.longBitsToDouble(longs[l + 4]);
    double difference = squares - product;
    double part = difference - squares;
    double error = (squares - (difference - part)) - (product + part);
    double spread = difference + (error + squaresRest - productRest);
    return spread < 0 ? 0 : spread;
  }
}
