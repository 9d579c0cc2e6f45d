package weft.kernel.window.bucket;

import java.io.Serializable;
import java.util.Iterator;
import org.apache.spark.sql.Row;
import weft.kernel.window.state.BucketStore;

/** What runs the batches of a bucket, wherever its state is kept. */
public interface Engine extends Serializable {
  /**
   * Runs one batch: messages in, messages out, and what is to be remembered in the store. It is
   * done when all messages have been taken.
   */
  Iterator<Row> run(int group, Iterator<Row> messages, BucketStore store);
}
