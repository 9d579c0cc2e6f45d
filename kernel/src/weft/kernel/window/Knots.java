package weft.kernel.window;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.TreeMap;

/** The knots of a batch with the watermark that holds after each; {@link #NONE} where there is none yet. */
final class Knots {
  static final long NONE = Long.MIN_VALUE;
  private static final ObjectMapper JSON = new ObjectMapper();

  private Knots() {}

  /** Adds the knots of a control row. */
  static void read(byte[] control, TreeMap<Long, Long> knots) {
    try {
      for (JsonNode knot : JSON.readTree(control).get("knots")) {
        JsonNode watermark = knot.get(1);
        knots.put(knot.get(0).longValue(), watermark.isNull() ? NONE : watermark.longValue());
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("A control row is not JSON.", e);
    }
  }
}
