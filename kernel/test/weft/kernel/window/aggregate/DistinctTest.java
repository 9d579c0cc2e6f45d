package weft.kernel.window.aggregate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;

/** Different values are counted exactly while they are few, and within some percent when not. */
class DistinctTest {
  private static final Distinct DISTINCT = new Distinct(0, DataTypes.LongType);

  private static List<Long> range(long from, long to) {
    return LongStream.range(from, to).boxed().toList();
  }

  @Test
  void fewValuesAreCountedExactly() {
    Slots slots = Slots.of(DISTINCT, range(0, 512)).merge(Slots.of(DISTINCT, range(100, 300)));
    assertEquals(512L, slots.result());
    assertEquals(0L, Slots.of(DISTINCT, (Object) null).result());
  }

  @Test
  void bothZerosAreOneValue() {
    Distinct doubles = new Distinct(0, DataTypes.DoubleType);
    assertEquals(2L, Slots.of(doubles, 0.0, -0.0, 1.0).result());
  }

  @Test
  void manyAreCountedWithinSixPercent() {
    for (long size : new long[] {1_000, 10_000, 100_000}) {
      double found = (Long) Slots.of(DISTINCT, range(0, size)).result();
      assertTrue(Math.abs(found / size - 1) < 0.06, size + " are said to be " + found);
    }
  }

  @Test
  void theCountDoesNotDependOnOrderPartsOrStorage() {
    List<Long> values = new ArrayList<>(range(0, 3_000));
    Object whole = Slots.of(DISTINCT, values).result();
    Collections.shuffle(values, new Random(5));
    Slots parts = Slots.of(DISTINCT, values.subList(0, 100)).stored();
    parts.merge(Slots.of(DISTINCT, values.subList(100, 2_000)).stored());
    parts.merge(Slots.of(DISTINCT, values.subList(1_500, 3_000)));
    assertEquals(whole, parts.stored().result());
  }
}
