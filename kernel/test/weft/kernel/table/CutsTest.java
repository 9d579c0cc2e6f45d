package weft.kernel.table;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Knots that were cut, and restored, are those that a plain set of numbers would have. */
class CutsTest {
  private static final int KNOTS = 30;

  @Test
  void areThoseOfASetThroughCutsAndRestorations() {
    Random random = new Random(3);
    for (int history = 0; history < 200; history++) {
      Cuts cuts = new Cuts();
      TreeSet<Long> expected = new TreeSet<>();
      for (int turn = 0; turn < 8; turn++) {
        long keep = random.nextInt(KNOTS);
        long head = keep + 1 + random.nextInt(KNOTS);
        boolean isCut = random.nextInt(3) > 0;
        for (long knot = keep + 1; knot <= head; knot++) {
          if (isCut) {
            expected.add(knot);
          } else {
            expected.remove(knot);
          }
        }
        if (isCut) {
          cuts.add(keep, head);
        } else {
          cuts.remove(keep, head);
        }
        assertSame(expected, cuts);
      }
    }
  }

  private static void assertSame(TreeSet<Long> expected, Cuts cuts) {
    for (long knot = 0; knot <= 2 * KNOTS; knot++) {
      assertEquals(expected.contains(knot), cuts.contains(knot), "knot " + knot);
      long kept = knot;
      while (expected.contains(kept)) {
        kept--;
      }
      assertEquals(kept, cuts.lastKept(knot), "last kept up to " + knot);
    }
  }
}
