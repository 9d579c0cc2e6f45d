package weft.kernel;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Objects;
import org.apache.spark.sql.execution.streaming.Offset;

/**
 * How far a reader is in a stream: the last knot it was given, that knot's version in the log, and
 * ticks so far.
 */
final class StreamOffset extends Offset {
  private final long knot;
  private final long version;
  private final long tick;

  StreamOffset(long knot, long version, long tick) {
    this.knot = knot;
    this.version = version;
    this.tick = tick;
  }

  static StreamOffset parse(String text) {
    JsonNode json = Json.parse(text);
    return new StreamOffset(
        json.required("knot").asLong(),
        json.required("version").asLong(),
        json.required("tick").asLong());
  }

  long knot() {
    return knot;
  }

  long version() {
    return version;
  }

  long tick() {
    return tick;
  }

  StreamOffset ticked() {
    return new StreamOffset(knot, version, tick + 1);
  }

  @Override
  public String json() {
    return Json.object().put("knot", knot).put("version", version).put("tick", tick).toString();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof StreamOffset offset
        && offset.knot == knot
        && offset.version == version
        && offset.tick == tick;
  }

  @Override
  public int hashCode() {
    return Objects.hash(knot, version, tick);
  }
}
