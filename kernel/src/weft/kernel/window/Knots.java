package weft.kernel.window;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.TreeMap;
import java.util.function.LongConsumer;

/**
 * The knots of a batch, in order, with the watermark that holds after each; {@link #NONE} where
 * there is none yet.
 *
 * <p>Knots of several inputs take turns by number: a knot's place is its number times the inputs,
 * plus its input's. The watermark of a pipeline is the lowest of its inputs', and none while one of
 * them has none.
 */
final class Knots {
  static final long NONE = Long.MIN_VALUE;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final int inputs;
  private final long[] watermarks;
  private final TreeMap<Long, Long> marks = new TreeMap<>();

  Knots(long[] watermarks) {
    this.inputs = watermarks.length;
    this.watermarks = watermarks;
  }

  /** Adds the knots of a control row. */
  void read(byte[] control) {
    try {
      JsonNode node = JSON.readTree(control);
      int input = node.path("input").asInt();
      for (JsonNode knot : node.get("knots")) {
        JsonNode watermark = knot.get(1);
        marks.put(
            knot.get(0).longValue() * inputs + input,
            watermark.isNull() ? NONE : watermark.longValue());
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("A control row is not JSON.", e);
    }
  }

  /** Adds a knot that brought records and that no control row names. */
  void add(long place) {
    marks.putIfAbsent(place, NONE);
  }

  /** Calls for each knot in order, after its own watermark is known to {@link #watermark}. */
  void forEach(LongConsumer run) {
    marks.forEach(
        (place, mark) -> {
          int input = (int) Math.floorMod(place, (long) inputs);
          watermarks[input] = Math.max(watermarks[input], mark);
          run.accept(place);
        });
  }

  long watermark() {
    long lowest = Long.MAX_VALUE;
    for (long each : watermarks) {
      lowest = Math.min(lowest, each);
    }
    return lowest;
  }

  static long[] read(Blob in) {
    long[] watermarks = new long[in.getInt()];
    in.getLongs(watermarks, 0, watermarks.length);
    return watermarks;
  }

  static void write(long[] watermarks, Blob out) {
    out.putInt(watermarks.length);
    out.putLongs(watermarks, 0, watermarks.length);
  }

  static long[] none(int inputs) {
    long[] watermarks = new long[inputs];
    java.util.Arrays.fill(watermarks, NONE);
    return watermarks;
  }
}
