package weft.kernel.source;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.LongStream;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;

/**
 * The running side of {@link FeedSource}: the next segment, when it is there, is the next batch.
 */
final class FeedStream implements MicroBatchStream, SupportsAdmissionControl {
  private static final String NAME = "segment";

  private final Path folder;

  FeedStream(Path folder) {
    this.folder = folder;
  }

  @Override
  public Offset initialOffset() {
    return new CountOffset(NAME, 0);
  }

  @Override
  public Offset deserializeOffset(String json) {
    return CountOffset.parse(NAME, json);
  }

  @Override
  public Offset latestOffset() {
    throw new UnsupportedOperationException("Spark asks with a start offset.");
  }

  @Override
  public Offset latestOffset(Offset start, ReadLimit limit) {
    // Null says that there is nothing: a first offset of 0 would be a batch of its own.
    CountOffset next = ((CountOffset) start).plus(1);
    return Files.exists(Segment.path(folder, next.count())) ? next : null;
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start, Offset end) {
    return LongStream.rangeClosed(((CountOffset) start).count() + 1, ((CountOffset) end).count())
        .mapToObj(number -> new Segment(folder.toString(), number))
        .toArray(InputPartition[]::new);
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return segment -> new SegmentReader((Segment) segment);
  }

  @Override
  public void commit(Offset end) {}

  @Override
  public void stop() {}
}
