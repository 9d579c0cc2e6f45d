package weft.kernel.source;

import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;

/** A stream whose offset is a number that each batch raises. */
abstract class CountedStream implements MicroBatchStream, SupportsAdmissionControl {
  private final String name;

  /** A stream that counts things of this name. */
  CountedStream(String name) {
    this.name = name;
  }

  /** How far the stream goes now, or null when nothing is new: 0 would be a batch of its own. */
  abstract CountOffset next(CountOffset start);

  @Override
  public final Offset initialOffset() {
    return new CountOffset(name, 0);
  }

  @Override
  public final Offset deserializeOffset(String json) {
    return CountOffset.parse(name, json);
  }

  @Override
  public final Offset latestOffset() {
    throw new UnsupportedOperationException("Spark asks with a start offset.");
  }

  @Override
  public final Offset latestOffset(Offset start, ReadLimit limit) {
    return next((CountOffset) start);
  }

  @Override
  public void commit(Offset end) {}

  @Override
  public void stop() {}
}
