package weft.kernel.source;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxRows;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;
import weft.kernel.json.Json;

/** The running side of {@link FileSource}: offsets are the follower's, and mean nothing here. */
final class FileStream implements MicroBatchStream, SupportsAdmissionControl {
  private static final FileOffset BEGINNING =
      new FileOffset("{\"file\": 0, \"line\": 0, \"byte\": 0}");

  private final FileFollower follower;
  private final long most;

  FileStream(FileFollower follower, long most) {
    if (follower == null) {
      throw new IllegalStateException("Nobody follows these files.");
    }
    this.follower = follower;
    this.most = most;
  }

  private static final class FileOffset extends Offset {
    private final String json;

    FileOffset(String json) {
      this.json = json;
    }

    @Override
    public String json() {
      return json;
    }
  }

  /** What one task reads. */
  private record Pack(List<FileRange> ranges) implements InputPartition {}

  @Override
  public Offset initialOffset() {
    return BEGINNING;
  }

  @Override
  public Offset deserializeOffset(String json) {
    return new FileOffset(json);
  }

  @Override
  public ReadLimit getDefaultReadLimit() {
    return ReadLimit.maxRows(most);
  }

  @Override
  public Offset latestOffset() {
    throw new UnsupportedOperationException("Spark asks with a start offset.");
  }

  @Override
  public Offset latestOffset(Offset start, ReadLimit limit) {
    long rows = limit instanceof ReadMaxRows stated ? stated.maxRows() : most;
    return new FileOffset(follower.ahead(start.json(), rows));
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start, Offset end) {
    List<Pack> packs = new ArrayList<>();
    for (JsonNode pack : Json.parse(follower.packs(start.json(), end.json()))) {
      List<FileRange> ranges = new ArrayList<>();
      pack.forEach(range -> ranges.add(FileRange.parse(range)));
      packs.add(new Pack(ranges));
    }
    return packs.toArray(InputPartition[]::new);
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return pack -> new FileRecords(((Pack) pack).ranges());
  }

  @Override
  public void commit(Offset end) {}

  @Override
  public void stop() {}
}
