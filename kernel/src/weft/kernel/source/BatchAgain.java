package weft.kernel.source;

import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;

/** What a stream gave between two of its offsets; it is asked for nothing new. */
final class BatchAgain implements Batch {
  private final MicroBatchStream stream;
  private final Offset from;
  private final Offset to;

  /** The records between two offsets in JSON; null is the beginning. */
  BatchAgain(MicroBatchStream stream, String from, String to) {
    this.stream = stream;
    this.from = from == null ? stream.initialOffset() : stream.deserializeOffset(from);
    this.to = to == null ? this.from : stream.deserializeOffset(to);
  }

  @Override
  public InputPartition[] planInputPartitions() {
    return stream.planInputPartitions(from, to);
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return stream.createReaderFactory();
  }
}
