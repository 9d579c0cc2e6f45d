package weft.kernel.spark.stream;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import weft.kernel.json.Json;
import weft.kernel.spark.Sessions;

/**
 * The batches of a query in its checkpoint directory, in the form of Spark's own: where each one
 * ends is written before it runs, and that it has run when it has. Each is written once: of two
 * workers at it, one is refused.
 */
public final class BatchLog {
  private static final String PLANNED =
      "v1\n{\"batchWatermarkMs\":0,\"batchTimestampMs\":0,\"conf\":{}}";
  private static final String DONE = "v1\n{\"nextBatchWatermarkMs\":0}";
  private static final String NOTHING_YET = "-";

  private final CheckpointFileManager files;
  private final Path offsets;
  private final Path commits;
  private final long kept;

  /**
   * @param kept how many batches are kept, so that a query can be taken back to one of them
   */
  public BatchLog(SparkSession spark, String checkpoint, long kept) {
    Path folder = new Path(checkpoint);
    this.files = CheckpointFileManager.create(folder, Sessions.hadoopConf(spark));
    this.offsets = new Path(folder, "offsets");
    this.commits = new Path(folder, "commits");
    this.kept = kept;
  }

  /** Where a batch ends in each input, as a list in JSON. */
  public void plan(long batch, String at) throws IOException {
    StringBuilder lines = new StringBuilder(PLANNED);
    for (JsonNode offset : Json.parse(at)) {
      lines.append('\n').append(offset.isNull() ? NOTHING_YET : offset.textValue());
    }
    write(new Path(offsets, Long.toString(batch)), lines.toString());
  }

  /** A batch has run; those that are too long ago are forgotten. */
  public void done(long batch) throws IOException {
    write(new Path(commits, Long.toString(batch)), DONE);
    if (batch >= kept) {
      files.delete(new Path(offsets, Long.toString(batch - kept)));
      files.delete(new Path(commits, Long.toString(batch - kept)));
    }
  }

  private void write(Path path, String text) throws IOException {
    try (var out = files.createAtomic(path, false)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
  }
}
