package weft.kernel.source;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.LongStream;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.Offset;

/**
 * The running side of {@link FeedSource}: the next segment, when it is there, is the next batch.
 */
final class FeedStream extends CountedStream {
  private final Path folder;

  FeedStream(Path folder) {
    super("segment");
    this.folder = folder;
  }

  @Override
  CountOffset next(CountOffset start) {
    CountOffset next = start.plus(1);
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
}
