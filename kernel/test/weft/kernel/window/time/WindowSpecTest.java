package weft.kernel.window.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import weft.kernel.json.Json;

/** A time is in the windows that begin at or before it and end after it, and in no others. */
class WindowSpecTest {
  private static WindowSpec window(String json) {
    return new WindowSpec(Json.parse(json.replace('\'', '"')));
  }

  private static WindowSpec sliding(long size, long slide, long offset) {
    return window(
        "{'type': 'sliding', 'size_ms': %d, 'slide_ms': %d, 'offset_ms': %d}"
            .formatted(size, slide, offset));
  }

  @Test
  void aTumblingWindowHoldsItsStartAndNotItsEnd() {
    WindowSpec hour = window("{'type': 'tumbling', 'size_ms': 3600000}");
    assertEquals(0, hour.slice(0));
    assertEquals(0, hour.slice(3_599_999));
    assertEquals(3_600_000, hour.slice(3_600_000));
    assertEquals(-3_600_000, hour.slice(-1));
    assertEquals(3_600_000, hour.lastEnd(hour.slice(5)));
  }

  @Test
  void theWindowsOfATimeAreThoseThatHoldIt() {
    Random random = new Random(2);
    for (int round = 0; round < 500; round++) {
      long slide = 1 + random.nextInt(20);
      long size = slide + random.nextInt(40);
      long offset = random.nextInt(100) - 50;
      WindowSpec spec = sliding(size, slide, offset);
      long time = random.nextInt(400) - 200;
      List<Long> expected = new ArrayList<>();
      for (long start = time - size + 1; start <= time; start++) {
        if (Math.floorMod(start - offset, slide) == 0) {
          expected.add(start);
        }
      }
      List<Long> found = new ArrayList<>();
      long slice = spec.slice(time);
      for (long start = spec.firstStart(slice); start <= spec.lastStart(slice); start += slide) {
        found.add(start);
      }
      assertEquals(expected, found, size + " by " + slide + " from " + offset + " at " + time);
      assertTrue(slice <= time && time < slice + spec.width());
    }
  }

  @Test
  void theEndAfterATimeIsTheNextOneOnTheGrid() {
    WindowSpec spec = sliding(10, 4, 1);
    assertEquals(11, spec.endAfter(10));
    assertEquals(15, spec.endAfter(11));
    assertEquals(3, spec.endAfter(0));
  }

  @Test
  void aWindowEndsWithTheWatermarkAndExpiresWithItsLateness() {
    WindowSpec spec = window("{'type': 'tumbling', 'size_ms': 10, 'allowed_lateness_ms': 5}");
    assertFalse(spec.isEnded(10, 9));
    assertTrue(spec.isEnded(10, 10));
    assertFalse(spec.isExpired(10, 14));
    assertTrue(spec.isExpired(10, 15));
    assertFalse(spec.isEnded(10, Millis.NONE));
    assertFalse(spec.isExpired(10, Millis.NONE));
  }

  @Test
  void timesAtTheLimitsStayThere() {
    WindowSpec spec = sliding(10, 4, 1);
    assertEquals(Long.MAX_VALUE, spec.lastEnd(spec.slice(Long.MAX_VALUE)));
    assertEquals(Long.MAX_VALUE, Millis.plus(Long.MAX_VALUE, 1));
    assertEquals(Long.MIN_VALUE, Millis.minus(Long.MIN_VALUE, 1));
    assertEquals(-4, Millis.floor(-1, 4));
    assertEquals(0, Millis.ceiling(-1, 4));
    assertEquals(8, Millis.next(4, 4));
    assertEquals(Long.MIN_VALUE, Millis.toMicros(Long.MIN_VALUE + 1));
  }

  @Test
  void onlyWindowsWhoseKeysFireTogetherAreSliced() {
    assertTrue(sliding(10, 5, 0).isSliced());
    assertFalse(window("{'type': 'session', 'gap_ms': 5}").isSliced());
    assertFalse(
        window("{'type': 'tumbling', 'size_ms': 5, 'trigger': {'early': {'count': 2}}}")
            .isSliced());
  }
}
