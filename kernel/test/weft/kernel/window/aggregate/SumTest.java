package weft.kernel.window.aggregate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.junit.jupiter.api.Test;

/** Sums are exact where their type is, and in any order the same where it is not. */
class SumTest {
  private static final DecimalType WIDE = DataTypes.createDecimalType(38, 2);

  private static Decimal wide(String text) {
    return Decimal.apply(new scala.math.BigDecimal(new BigDecimal(text)), 38, 2);
  }

  @Test
  void aSumOfLongsPassesTheirLimitAndComesBack() {
    WholeSum sum = new WholeSum(0, DataTypes.LongType, false);
    Slots slots = Slots.of(sum, Long.MAX_VALUE, Long.MAX_VALUE, 5L, null);
    assertNull(slots.result());
    slots.merge(Slots.of(sum, -Long.MAX_VALUE, -Long.MAX_VALUE));
    assertEquals(5L, slots.result());
  }

  @Test
  void aMeanOfLongsIsTakenOfTheWholeSum() {
    WholeSum mean = new WholeSum(0, DataTypes.LongType, true);
    assertEquals((double) Long.MAX_VALUE, Slots.of(mean, Long.MAX_VALUE, Long.MAX_VALUE).result());
    assertEquals(-1.5, Slots.of(mean, -1L, -2L, null).result());
    assertNull(Slots.of(mean, (Object) null).result());
  }

  @Test
  void aSumOfWideDecimalsIsExactOrNull() {
    BigSum sum = new BigSum(0, WIDE, false);
    Slots slots = Slots.of(sum, wide("0.01"), wide("-0.03"), null).merge(new Slots(sum));
    assertEquals(wide("-0.02"), slots.stored().result());
    String largest = "9".repeat(36) + ".99";
    Slots over = Slots.of(sum, wide(largest)).merge(Slots.of(sum, wide("0.01")));
    assertNull(over.result());
    assertEquals(wide(largest), over.merge(Slots.of(sum, wide("-0.01"))).stored().result());
  }

  @Test
  void aSumOfDoublesDoesNotDependOnTheirOrder() {
    Random random = new Random(11);
    List<Double> values = new ArrayList<>();
    for (int left = 500; left > 0; left--) {
      values.add((random.nextDouble() - 0.5) * Math.pow(10, random.nextInt(12)));
    }
    Moments sum = new Moments(0, Moments.Figure.SUM);
    Object first = Slots.of(sum, values).result();
    for (int round = 0; round < 20; round++) {
      Collections.shuffle(values, random);
      Slots parts = Slots.of(sum, values.subList(0, 123));
      assertEquals(first, parts.merge(Slots.of(sum, values.subList(123, 500))).result());
    }
  }

  @Test
  void aVarianceSurvivesALargeMean() {
    Moments variance = new Moments(0, Moments.Figure.VARIANCE);
    assertEquals(1.0, Slots.of(variance, 1e15 + 1, 1e15 + 2, 1e15 + 3).result());
    assertNull(Slots.of(variance, 4.0).result());
    Moments all = new Moments(0, Moments.Figure.VARIANCE_OF_ALL);
    assertEquals(0.0, Slots.of(all, 4.0).result());
  }

  @Test
  void whatIsTakenOutOfASumWasNeverThere() {
    WholeSum longs = new WholeSum(0, DataTypes.LongType, false);
    Slots sum = Slots.of(longs, Long.MAX_VALUE, 7L, Long.MIN_VALUE, null);
    assertEquals(7L, sum.subtract(Long.MIN_VALUE).subtract(null).subtract(Long.MAX_VALUE).result());
    assertNull(sum.subtract(7L).result());
    WholeSum wide = new WholeSum(0, DataTypes.createDecimalType(25, 2), false);
    Decimal large = wide("12345678901234567890.12");
    Slots decimals = Slots.of(wide, large, wide("-0.01"), large).subtract(large).subtract(large);
    assertEquals("-0.01", decimals.result().toString());
    Slots mean = Slots.of(new BigSum(0, WIDE, true), wide("5.00"), wide("-0.03"));
    assertEquals("-0.030000", mean.subtract(wide("5.00")).stored().result().toString());
  }

  @Test
  void aSumOfDoublesIsExactWhateverCameAndWent() {
    Random random = new Random(3);
    ExactSum exact = new ExactSum(0, false);
    for (int history = 0; history < 200; history++) {
      Slots slots = new Slots(exact);
      List<Double> there = new ArrayList<>();
      for (int turn = 0; turn < 40; turn++) {
        double value = Math.scalb(random.nextDouble() - 0.5, random.nextInt(2_000) - 1_000);
        slots.add(value);
        there.add(value);
        if (random.nextInt(3) == 0) {
          slots.subtract(there.remove(random.nextInt(there.size())));
        }
        slots = turn % 7 == 0 ? slots.stored() : slots;
      }
      BigDecimal sum = BigDecimal.ZERO;
      for (double value : there) {
        sum = sum.add(new BigDecimal(value));
      }
      assertEquals(sum.doubleValue(), slots.result());
    }
  }

  @Test
  void aSumOfDoublesHasNoNumberWhileAnEndlessOneIsIn() {
    ExactSum exact = new ExactSum(0, false);
    Slots slots = Slots.of(exact, 1.5, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY);
    assertEquals(Double.NaN, slots.result());
    assertEquals(Double.POSITIVE_INFINITY, slots.subtract(Double.NEGATIVE_INFINITY).result());
    slots.add(Double.NaN);
    slots.add(null);
    assertEquals(Double.NaN, slots.stored().result());
    slots.subtract(Double.NaN).subtract(Double.POSITIVE_INFINITY);
    assertEquals(1.5, slots.result());
    assertNull(slots.subtract(1.5).result());
    assertEquals(2.5, Slots.of(new ExactSum(0, true), 1.0, 4.0, null).result());
    Slots least = Slots.of(exact, Double.MIN_VALUE, 1e308, 1e308);
    assertEquals(Double.POSITIVE_INFINITY, least.result());
    assertEquals(Double.MIN_VALUE, least.subtract(1e308).subtract(1e308).result());
  }

  @Test
  void aMeanOfDoublesIsRoundedOnce() {
    Random random = new Random(5);
    ExactSum mean = new ExactSum(0, true);
    for (int range : new int[] {4, 60, 600, 2_040}) {
      for (int round = 0; round < 300; round++) {
        Slots slots = new Slots(mean);
        BigDecimal sum = BigDecimal.ZERO;
        int count = 1 + random.nextInt(12);
        for (int value = 0; value < count; value++) {
          int power = random.nextInt(range) - (range < 2_040 ? range / 2 : 1_060);
          double next = Math.scalb(random.nextDouble() - 0.5, power);
          slots.add(next);
          sum = sum.add(new BigDecimal(next));
        }
        BigDecimal exact = sum.divide(BigDecimal.valueOf(count), new MathContext(1_200));
        assertEquals(exact.doubleValue(), slots.stored().result());
      }
    }
  }

  @Test
  void aMeanOfDoublesFitsWhereTheirSumDoesNot() {
    ExactSum mean = new ExactSum(0, true);
    assertEquals(1e308, Slots.of(mean, 1e308, 1e308, 1e308).result());
    assertEquals(-Double.MAX_VALUE, Slots.of(mean, -Double.MAX_VALUE, -Double.MAX_VALUE).result());
    // Three halves of the least double lie between it and its double, which is even.
    assertEquals(2 * Double.MIN_VALUE, Slots.of(mean, Double.MIN_VALUE, 1e-323).result());
    assertEquals(Double.MIN_VALUE, Slots.of(mean, Double.MIN_VALUE, 1e-323, 0.0).result());
    assertEquals(0.0, Slots.of(mean, 0.0, Double.MIN_VALUE).result());
    Slots endless = Slots.of(mean, 1e308, Double.POSITIVE_INFINITY);
    assertEquals(Double.POSITIVE_INFINITY, endless.result());
    endless.add(Double.NEGATIVE_INFINITY);
    assertEquals(Double.NaN, endless.result());
  }

  @Test
  void aMeanOfLongsIsRoundedOnce() {
    Random random = new Random(7);
    WholeSum mean = new WholeSum(0, DataTypes.LongType, true);
    for (int round = 0; round < 500; round++) {
      Slots slots = new Slots(mean);
      BigDecimal sum = BigDecimal.ZERO;
      int count = 1 + random.nextInt(12);
      for (int value = 0; value < count; value++) {
        long next = random.nextLong() >> random.nextInt(Long.SIZE);
        slots.add(next);
        sum = sum.add(BigDecimal.valueOf(next));
      }
      BigDecimal exact = sum.divide(BigDecimal.valueOf(count), new MathContext(200));
      assertEquals(exact.doubleValue(), slots.result());
    }
    assertEquals(-0x1p63, Slots.of(mean, Long.MIN_VALUE, Long.MIN_VALUE).result());
  }
}
