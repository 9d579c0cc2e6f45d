package weft.kernel.source;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;

/**
 * The running side of {@link TickSource}: one step of the offset for all ticks asked for since the
 * last batch.
 */
final class TickStream implements MicroBatchStream, SupportsAdmissionControl {
  private static final String NAME = "tick";

  private final AtomicBoolean asked;

  TickStream(AtomicBoolean asked) {
    this.asked = asked;
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
    return asked.getAndSet(false) ? ((CountOffset) start).plus(1) : null;
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start, Offset end) {
    return new InputPartition[0];
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return partition -> {
      throw new IllegalStateException("A tick has no partitions to read.");
    };
  }

  @Override
  public void commit(Offset end) {}

  @Override
  public void stop() {}
}
