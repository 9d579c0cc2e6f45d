package weft.kernel.spine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

/** A summary is that of all values, in whatever parts they were taken in. */
class ColumnSummaryTest {
  private static final double CLOSE = 1e-9;

  private static ColumnSummary of(double... values) {
    ColumnSummary summary = new ColumnSummary();
    Arrays.stream(values).forEach(summary::add);
    return summary;
  }

  @Test
  void partsAddUpToTheWhole() {
    Random random = new Random(11);
    double[] values = DoubleStream.generate(random::nextGaussian).limit(1000).toArray();
    double mean = Arrays.stream(values).average().orElseThrow();
    double spread =
        Math.sqrt(Arrays.stream(values).map(v -> (v - mean) * (v - mean)).average().orElseThrow());
    ColumnSummary parts = new ColumnSummary();
    for (int cut = 0; cut < 1000; ) {
      int end = Math.min(1000, cut + random.nextInt(300));
      parts.add(of(Arrays.copyOfRange(values, cut, end)));
      cut = end;
    }
    for (ColumnSummary summary : new ColumnSummary[] {of(values), parts}) {
      JsonNode json = summary.toJson();
      assertEquals(mean, json.get("mean").asDouble(), CLOSE);
      assertEquals(spread, json.get("spread").asDouble(), CLOSE);
    }
  }

  @Test
  void whatIsNoNumberHidesNothing() {
    JsonNode json = of(1, Double.NaN, 3, Double.POSITIVE_INFINITY).toJson();
    assertEquals(2, json.get("mean").asDouble());
    assertEquals(1, json.get("spread").asDouble());
  }

  @Test
  void whatHasNoMeanSaysNone() {
    ColumnSummary nulls = new ColumnSummary();
    nulls.addNull();
    assertEquals(1, nulls.toJson().get("nulls").asInt());
    assertFalse(nulls.toJson().has("mean"));
    assertFalse(of(Double.MAX_VALUE, -Double.MAX_VALUE).toJson().has("mean"));
  }
}
