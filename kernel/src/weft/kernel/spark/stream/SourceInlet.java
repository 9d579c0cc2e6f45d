package weft.kernel.spark.stream;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;
import org.apache.spark.sql.types.StructType;
import weft.kernel.json.Json;
import weft.kernel.operator.InputBatch;
import weft.kernel.spark.BatchFrame;
import weft.kernel.spark.Leaf;
import weft.kernel.spark.ReadRows;

/** A source of Spark's: what it gives for a batch is read as it is, and planned by nobody. */
final class SourceInlet implements Inlet {
  private static final String NOTHING_TOLD = "{}";

  /** How Spark begins to describe a source whose offsets count records. */
  private static final String KAFKA = "KafkaV2";

  /** Up to so many rows one task reads them all. */
  private static final long LITTLE = 2_000;

  private final SparkSession spark;
  private final MicroBatchStream stream;
  private final StructType schema;
  private volatile boolean hasLooked;

  private SourceInlet(SparkSession spark, MicroBatchStream stream, StructType schema) {
    this.spark = spark;
    this.stream = stream;
    this.schema = schema;
  }

  /**
   * The source of a streaming frame.
   *
   * @param remembers the folder where it keeps what it has to remember
   */
  static SourceInlet of(Dataset<Row> frame, String remembers) {
    StreamingRelationV2 source = Leaf.source(frame);
    Scan scan = ((SupportsRead) source.table()).newScanBuilder(source.extraOptions()).build();
    return new SourceInlet(
        frame.sparkSession(), scan.toMicroBatchStream(remembers), Leaf.schema(source));
  }

  private Offset offset(String text) {
    return text == null ? stream.initialOffset() : stream.deserializeOffset(text);
  }

  @Override
  public String latest(String from) {
    Offset start = offset(from);
    Offset end =
        stream instanceof SupportsAdmissionControl limited
            ? limited.latestOffset(start, limited.getDefaultReadLimit())
            : stream.latestOffset();
    hasLooked = true;
    return end == null || from != null && end.equals(start) ? from : end.json();
  }

  @Override
  public InputBatch batch(String from, String to) {
    ReadRows rows = ReadRows.none(spark);
    if (to != null && !to.equals(from)) {
      Offset start = offset(from);
      Offset end = offset(to);
      rows =
          ReadRows.of(
              spark,
              stream.planInputPartitions(start, end),
              stream.createReaderFactory(),
              isLittle(start.json(), end.json()));
    }
    return new InputBatch(BatchFrame.of(spark, rows, schema), NOTHING_TOLD, 0, 0);
  }

  /** Whether a batch is known to have few rows: its offsets count them, by topic and partition. */
  static boolean isLittle(String from, String to) {
    long rows = 0;
    JsonNode starts = Json.parse(from);
    for (var topic : Json.parse(to).properties()) {
      for (var part : topic.getValue().properties()) {
        JsonNode start = starts.path(topic.getKey()).path(part.getKey());
        if (!start.isIntegralNumber() || !part.getValue().isIntegralNumber()) {
          return false;
        }
        rows += part.getValue().longValue() - start.longValue();
      }
      if (topic.getValue().isEmpty()) {
        return false;
      }
    }
    return rows <= LITTLE;
  }

  @Override
  public void committed(String to) {
    if (to != null) {
      stream.commit(stream.deserializeOffset(to));
    }
  }

  @Override
  public String known() {
    // Before its first look that source has nothing to report, and fails.
    if (!hasLooked || !stream.toString().startsWith(KAFKA)) {
      return null;
    }
    Offset known = ((SupportsAdmissionControl) stream).reportLatestOffset();
    return known == null ? null : known.json();
  }

  @Override
  public void stop() {
    stream.stop();
  }
}
