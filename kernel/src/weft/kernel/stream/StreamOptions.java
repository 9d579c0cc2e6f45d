package weft.kernel.stream;

import com.fasterxml.jackson.databind.JsonNode;
import weft.kernel.json.Json;

/**
 * How a stream is read.
 *
 * @param path the table's folder
 * @param name who reads it, for ticks
 * @param maxRows how many rows a batch admits, 0 for all there are
 * @param maxKnots how many knots a batch admits, 0 for all there are
 * @param startKnot the last knot that is not read
 * @param newest what it begins with, if not with all changes; or null
 * @param script where its batches end, when they were cut before and are read again
 */
public record StreamOptions(
    String path,
    String name,
    long maxRows,
    long maxKnots,
    long startKnot,
    Newest newest,
    StreamScript script) {

  /** What is asked for, as {@code streams/read.py} writes it. */
  public static StreamOptions of(String asked) {
    JsonNode given = Json.parse(asked);
    return new StreamOptions(
        given.required("path").textValue(),
        given.required("name").textValue(),
        given.path("maxRows").asLong(),
        given.path("maxKnots").asLong(),
        given.path("startKnot").asLong(),
        Newest.of(given.path("newest")),
        StreamScript.of(given.path("script")));
  }
}
