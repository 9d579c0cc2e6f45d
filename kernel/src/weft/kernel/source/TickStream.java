package weft.kernel.source;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.Offset;

/**
 * The running side of {@link TickSource}: one step of the offset for all ticks asked for since the
 * last batch.
 */
final class TickStream extends CountedStream {
  private final AtomicBoolean asked;

  TickStream(AtomicBoolean asked) {
    super("tick");
    this.asked = asked;
  }

  @Override
  CountOffset next(CountOffset start) {
    return asked.getAndSet(false) ? start.plus(1) : null;
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
}
