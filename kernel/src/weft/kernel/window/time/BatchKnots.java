package weft.kernel.window.time;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import weft.kernel.bytes.Blob;
import weft.kernel.json.Json;

/**
 * The knots of a batch, in order, with the watermark that holds after each; {@link Millis#NONE}
 * where there is none yet.
 *
 * <p>Knots of several inputs take turns by number: a knot's place is its number times the inputs,
 * plus its input's. The watermark of a pipeline is the lowest of its inputs', and none while one of
 * them has none.
 */
public final class BatchKnots {

  private final int inputs;
  private final long[] watermarks;
  private final TreeMap<Long, Long> marks = new TreeMap<>();

  public BatchKnots(long[] watermarks) {
    this.inputs = watermarks.length;
    this.watermarks = watermarks;
  }

  /** Adds the knots that a control message names. */
  public void read(byte[] control) {
    JsonNode node = Json.parse(new String(control, StandardCharsets.UTF_8));
    int input = node.path("input").asInt();
    for (JsonNode knot : node.get("knots")) {
      JsonNode watermark = knot.get(1);
      marks.put(
          knot.get(0).longValue() * inputs + input,
          watermark.isNull() ? Millis.NONE : watermark.longValue());
    }
  }

  /** Adds a knot that brought records and that no control message names. */
  public void add(long place) {
    marks.putIfAbsent(place, Millis.NONE);
  }

  /** Calls for each knot in order, after its own watermark is known to {@link #watermark}. */
  public void forEach(LongConsumer run) {
    marks.forEach(
        (place, mark) -> {
          int input = (int) Math.floorMod(place, (long) inputs);
          watermarks[input] = Math.max(watermarks[input], mark);
          run.accept(place);
        });
  }

  public long watermark() {
    long lowest = Long.MAX_VALUE;
    for (long each : watermarks) {
      lowest = Math.min(lowest, each);
    }
    return lowest;
  }

  public static long[] read(Blob in) {
    long[] watermarks = new long[in.getInt()];
    in.getLongs(watermarks, 0, watermarks.length);
    return watermarks;
  }

  public static void write(long[] watermarks, Blob out) {
    out.putInt(watermarks.length);
    out.putLongs(watermarks, 0, watermarks.length);
  }

  public static long[] none(int inputs) {
    long[] watermarks = new long[inputs];
    java.util.Arrays.fill(watermarks, Millis.NONE);
    return watermarks;
  }
}
