package weft.kernel.stream;

import java.util.Arrays;
import java.util.Set;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.collection.immutable.Map;
import scala.jdk.javaapi.CollectionConverters;

/**
 * How a stream is read.
 *
 * @param path the table's folder
 * @param name who reads it, for ticks
 * @param maxRows how many rows a batch admits, 0 for all there are
 * @param maxKnots how many knots a batch admits, 0 for all there are
 * @param startKnot the last knot that is not read
 * @param query the query that reads it, which may wait here for more
 * @param wakes what its wait ends by: the tables and the ticks of all its sources
 * @param waitMillis how long it waits before Spark looks at all of its tables, 0 when it does not
 * @param lookMillis how long it waits before it looks at this table, if that is local
 * @param newest what it begins with, if not with all changes; or null
 * @param script where its batches end, when they were cut before and are read again
 */
public record StreamOptions(
    String path,
    String name,
    long maxRows,
    long maxKnots,
    long startKnot,
    String query,
    Set<String> wakes,
    long waitMillis,
    long lookMillis,
    Newest newest,
    StreamScript script) {

  public static StreamOptions of(Map<String, String> options) {
    CaseInsensitiveStringMap given =
        new CaseInsensitiveStringMap(CollectionConverters.asJava(options));
    String path = given.get("path");
    if (path == null) {
      throw new IllegalArgumentException(
          "A weft-stream needs the option path: its table's folder.");
    }
    return new StreamOptions(
        path,
        given.getOrDefault("name", path),
        given.getLong("maxRows", 0),
        given.getLong("maxKnots", 0),
        given.getLong("startKnot", 0),
        given.getOrDefault("query", ""),
        Set.copyOf(Arrays.asList(given.getOrDefault("wakes", "").split("\n"))),
        given.getLong("waitMillis", 0),
        given.getLong("lookMillis", 0),
        Newest.of(
            given.get("newestBy"), given.get("newestOf"), given.getLong("newestFrom", 0)),
        StreamScript.of(given.get("ends"), given.getLong("firstTick", 0)));
  }
}
