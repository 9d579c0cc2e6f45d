package weft.kernel.operator;

import java.io.Serializable;
import java.util.Iterator;

/** What the buckets of an operator do. A task has one of its own, for one bucket after another. */
public interface Engine extends Serializable {
  /** Begins a batch of a bucket, with what that remembers. */
  Batch begin(int bucket, BucketStore store);

  /** A batch of a bucket. */
  interface Batch {
    void take(Message message);

    /**
     * Ends it when all was taken: what comes of it. What is to be remembered is in the store once
     * the last of that was asked for, and no batch of another bucket begins before.
     */
    Iterator<Message> end();
  }
}
