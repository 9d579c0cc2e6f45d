package weft.kernel.operator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** What is in memory is what was used last, and of the version that it was kept for. */
class WarmTest {
  private record Sized(long bytes) implements Warm.Thing {}

  private static final long A_LOT = Runtime.getRuntime().maxMemory() / 8;

  @Test
  void whatWasKeptIsFoundInTheVersionThatItWasKeptFor() {
    Warm warm = Warm.take("kept", 0);
    Sized thing = new Sized(10);
    warm.put("a", thing);
    warm.keep("kept", 1);
    assertSame(thing, Warm.take("kept", 1).find("a"));
  }

  @Test
  void whoFindsAnotherVersionBeginsWithNothing() {
    for (long version : new long[] {0, 2}) {
      Warm warm = Warm.take("another", 0);
      warm.put("a", new Sized(10));
      warm.keep("another", 1);
      assertNull(Warm.take("another", version).find("a"));
      assertNull(Warm.take("another", 1).find("a"), "it is gone for good");
    }
  }

  @Test
  void onlyOneGetsIt() {
    Warm warm = Warm.take("one", 0);
    warm.put("a", new Sized(10));
    warm.keep("one", 1);
    assertNotNull(Warm.take("one", 1).find("a"));
    assertNull(Warm.take("one", 1).find("a"));
  }

  @Test
  void whatIsNotThereIsNowhereAsLongAsNothingWasLetGo() {
    assertTrue(Warm.take("new", 0).isWhole());
    assertFalse(Warm.take("old", 7).isWhole());
    Warm warm = Warm.take("growing", 0);
    warm.put("a", new Sized(10));
    warm.keep("growing", 1);
    assertTrue(Warm.take("growing", 1).isWhole());
    Warm small = Warm.empty(true, 500);
    small.put("a", new Sized(300));
    assertTrue(small.isWhole());
    small.put("b", new Sized(300));
    assertFalse(small.isWhole());
  }

  @Test
  void whatWasUsedLongestAgoGoesFirst() {
    Warm warm = Warm.empty(false, 1000);
    for (String name : new String[] {"a", "b", "c"}) {
      warm.put(name, new Sized(200));
    }
    assertNotNull(warm.find("a"));
    warm.put("d", new Sized(200));
    assertNull(warm.find("b"));
    for (String name : new String[] {"a", "c", "d"}) {
      assertNotNull(warm.find(name), name);
    }
  }

  @Test
  void aThingThatGrowsIsCountedAgain() {
    Warm warm = Warm.empty(false, 1000);
    warm.put("a", new Sized(200));
    warm.put("b", new Sized(200));
    warm.put("b", new Sized(800));
    assertNull(warm.find("a"));
    assertEquals(800, warm.find("b").bytes());
  }

  @Test
  void allTogetherTakeNoMoreThanTheirShareOfTheHeap() {
    for (String state : new String[] {"first", "second"}) {
      Warm warm = Warm.take(state, 0);
      for (int part = 0; part < 6; part++) {
        warm.put(part, new Sized(A_LOT / 10));
      }
      warm.keep(state, 1);
    }
    Warm first = Warm.take("first", 1);
    assertNull(first.find(0));
    assertNotNull(first.find(5));
    Warm second = Warm.take("second", 1);
    for (int part = 0; part < 6; part++) {
      assertNotNull(second.find(part));
    }
  }
}
