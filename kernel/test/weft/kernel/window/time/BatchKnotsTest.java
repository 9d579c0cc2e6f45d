package weft.kernel.window.time;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The watermark after a knot is the lowest of all inputs, and never falls. */
class BatchKnotsTest {
  private static List<Long> watermarks(long[] before, String... controls) {
    BatchKnots knots = new BatchKnots(before);
    for (String control : controls) {
      knots.read(control.getBytes(StandardCharsets.UTF_8));
    }
    List<Long> found = new ArrayList<>();
    knots.forEach(knot -> found.add(knots.watermark()));
    return found;
  }

  @Test
  void knotsComeInOrderAndWatermarksDoNotFall() {
    String control = "{\"knots\": [[3, 20], [1, 10], [2, null], [4, 15]]}";
    assertEquals(List.of(10L, 10L, 20L, 20L), watermarks(BatchKnots.none(1), control));
  }

  @Test
  void thereIsNoneWhileAnInputHasNone() {
    String one = "{\"input\": 0, \"knots\": [[1, 10], [2, 30]]}";
    String two = "{\"input\": 1, \"knots\": [[2, 20]]}";
    List<Long> expected = List.of(Millis.NONE, Millis.NONE, 20L);
    assertEquals(expected, watermarks(BatchKnots.none(2), one, two));
  }
}
