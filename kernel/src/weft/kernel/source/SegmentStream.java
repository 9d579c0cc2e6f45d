package weft.kernel.source;

import java.nio.file.Path;
import java.util.stream.LongStream;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.Offset;

/** A stream of the numbered segment files of a folder; its offset is how many were read. */
abstract class SegmentStream extends CountedStream {
  private final Path folder;

  SegmentStream(Path folder) {
    super("segment");
    this.folder = folder;
  }

  /** The file of a segment, whether it is there or not. */
  final Path file(CountOffset number) {
    return Segment.path(folder, number.count());
  }

  @Override
  public final InputPartition[] planInputPartitions(Offset start, Offset end) {
    return LongStream.rangeClosed(((CountOffset) start).count() + 1, ((CountOffset) end).count())
        .mapToObj(number -> new Segment(folder.toString(), number))
        .toArray(InputPartition[]::new);
  }

  @Override
  public final PartitionReaderFactory createReaderFactory() {
    return segment -> new SegmentReader((Segment) segment);
  }
}
