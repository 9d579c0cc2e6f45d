package weft.kernel.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import org.junit.jupiter.api.Test;

final class WakeTest {
  private static final long AN_HOUR = 3_600_000;

  @Test
  void countsWhatIsAddedToItsKeysAlone() {
    try (Wake wake = new Wake(Set.of("one", "two"));
        Wake same = new Wake(Set.of("two"))) {
      Wake.added("one");
      Wake.added("two");
      Wake.added("three");
      assertEquals(2, wake.count());
      assertEquals(1, same.count());
    }
  }

  @Test
  void isToldOfNothingOnceItIsClosed() {
    Wake wake = new Wake(Set.of("closed"));
    try (Wake other = new Wake(Set.of("closed"))) {
      wake.close();
      Wake.added("closed");
      assertEquals(0, wake.count());
      assertEquals(1, other.count());
    }
  }

  @Test
  void doesNotWaitForWhatWasAddedSinceItWasAsked() throws InterruptedException {
    try (Wake wake = new Wake(Set.of("since"))) {
      long seen = wake.count();
      Wake.added("since");
      wake.await(seen, AN_HOUR);
    }
  }

  @Test
  void waitsNoMoreWhenItIsReleased() throws InterruptedException {
    try (Wake wake = new Wake(Set.of("released"))) {
      assertFalse(wake.isReleased());
      wake.release();
      assertTrue(wake.isReleased());
      wake.await(wake.count(), AN_HOUR);
      wake.rest(AN_HOUR);
    }
  }
}
