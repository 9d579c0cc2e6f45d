package weft.kernel.source;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.stream.LongStream;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.Offset;
import weft.kernel.spark.StoredFolder;

/** A stream of the numbered segment files of a folder; its offset is how many were read. */
abstract class SegmentStream extends CountedStream {
  private final StoredFolder folder;

  SegmentStream(StoredFolder folder) {
    super("segment");
    this.folder = folder;
  }

  /** Whether a segment is there. */
  final boolean has(CountOffset number) {
    try {
      return folder.has(new Segment(number.count()).fileName());
    } catch (IOException e) {
      throw new UncheckedIOException("Folder " + folder + " cannot be read: " + e.getMessage(), e);
    }
  }

  @Override
  public final InputPartition[] planInputPartitions(Offset start, Offset end) {
    return LongStream.rangeClosed(((CountOffset) start).count() + 1, ((CountOffset) end).count())
        .mapToObj(Segment::new)
        .toArray(InputPartition[]::new);
  }

  @Override
  public final PartitionReaderFactory createReaderFactory() {
    StoredFolder place = folder;
    return segment -> new SegmentReader(place, (Segment) segment);
  }
}
