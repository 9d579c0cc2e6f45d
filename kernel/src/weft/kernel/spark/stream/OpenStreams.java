package weft.kernel.spark.stream;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import weft.kernel.operator.InputBatch;
import weft.kernel.spark.BatchFrame;
import weft.kernel.stream.StreamOptions;

/**
 * The streams that queries have open. Spark's batches of them have no rows and are planned in no
 * time; whoever runs a batch asks here what is between its offsets.
 */
public final class OpenStreams {
  private static final Map<String, StreamSource> SOURCES = new ConcurrentHashMap<>();

  private OpenStreams() {}

  private static String name(String query, String reader) {
    return query + "\n" + reader;
  }

  static void add(StreamOptions options, StreamSource source) {
    SOURCES.put(name(options.query(), options.name()), source);
  }

  /** Stops all that a query has open so far. */
  static void stop(String query) {
    SOURCES.forEach(
        (name, source) -> {
          if (name.startsWith(name(query, ""))) {
            source.stop();
          }
        });
  }

  static void remove(StreamOptions options, StreamSource source) {
    SOURCES.remove(name(options.query(), options.name()), source);
  }

  /**
   * What a stream has between two offsets.
   *
   * @param from where the batch before has ended, as JSON; null before the first
   * @param to where this one ends; null where nothing was read yet
   */
  public static InputBatch batch(String query, String reader, String from, String to)
      throws IOException {
    StreamSource source = SOURCES.get(name(query, reader));
    if (source == null) {
      throw new IllegalStateException("No stream " + reader + " is open in " + query + ".");
    }
    return source.batch(from, to);
  }

  /** The rows of several batches with the same columns as one frame. */
  public static Dataset<Row> rows(List<InputBatch> batches) {
    List<Dataset<Row>> frames = new ArrayList<>();
    batches.forEach(batch -> frames.add(batch.frame()));
    return BatchFrame.together(frames);
  }
}
