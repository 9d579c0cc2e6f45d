package weft.kernel.stream;

import com.fasterxml.jackson.databind.JsonNode;
import weft.kernel.json.Json;

/**
 * How far a reader is in a stream: the last knot it was given, that knot's version in the log, and
 * ticks so far.
 */
public record StreamOffset(long knot, long version, long tick) {

  public static StreamOffset parse(String text) {
    JsonNode json = Json.parse(text);
    return new StreamOffset(
        json.required("knot").asLong(),
        json.required("version").asLong(),
        json.required("tick").asLong());
  }

  StreamOffset ticked() {
    return new StreamOffset(knot, version, tick + 1);
  }

  public String json() {
    return Json.object().put("knot", knot).put("version", version).put("tick", tick).toString();
  }
}
