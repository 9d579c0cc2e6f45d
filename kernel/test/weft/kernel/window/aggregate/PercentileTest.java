package weft.kernel.window.aggregate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.DoubleStream;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;

/** Percentiles are exact while values are few, and close to the true value when not. */
class PercentileTest {
  private static Percentile at(double share) {
    return new Percentile(0, DataTypes.DoubleType, new double[] {share}, false);
  }

  private static List<Double> values(int count) {
    Random random = new Random(count);
    List<Double> values = new ArrayList<>();
    for (int left = count; left > 0; left--) {
      values.add(Math.exp(6 * random.nextGaussian()) * (random.nextInt(4) == 0 ? -1 : 1));
    }
    return values;
  }

  @Test
  void aShareOfFewValuesIsOneOfThem() {
    assertEquals(2.0, Slots.of(at(0.5), 3.0, 1.0, null, 2.0, 4.0).result());
    assertEquals(1.0, Slots.of(at(0), 3.0, 1.0, 2.0).result());
    assertEquals(3.0, Slots.of(at(1), 3.0, 1.0, 2.0).result());
    assertNull(Slots.of(at(0.5), (Object) null).result());
  }

  @Test
  void aShareOfManyIsWithinHalfAPercentOfTheTrueValue() {
    List<Double> values = values(50_000);
    List<Double> sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    for (double share : new double[] {0.001, 0.1, 0.5, 0.9, 0.999}) {
      double truth = sorted.get((int) Math.ceil(share * sorted.size()) - 1);
      double found = (Double) Slots.of(at(share), values).result();
      assertTrue(Math.abs(found / truth - 1) < 0.005, share + " is " + truth + ", not " + found);
    }
  }

  @Test
  void theResultDoesNotDependOnOrderPartsOrStorage() {
    List<Double> values = values(10_000);
    Object whole = Slots.of(at(0.9), values).result();
    Collections.shuffle(values, new Random(5));
    Slots parts = Slots.of(at(0.9), values.subList(0, 100)).stored();
    parts.merge(Slots.of(at(0.9), values.subList(100, 7_000)).stored());
    parts.merge(Slots.of(at(0.9), values.subList(7_000, 10_000)));
    assertEquals(whole, parts.stored().result());
  }

  @Test
  void fewExactValuesAreGroupedWhenManyJoinThem() {
    double[] shares = DoubleStream.iterate(0.01, share -> share + 0.01).limit(99).toArray();
    Percentile all = new Percentile(0, DataTypes.DoubleType, shares, true);
    List<Double> values = new Random(8).doubles(10_000, 1, 2).boxed().toList();
    Slots few = Slots.of(all, values.subList(0, 1_000));
    few.merge(Slots.of(all, values.subList(1_000, 10_000)));
    assertEquals(Slots.of(all, values).result(), few.result());
  }
}
