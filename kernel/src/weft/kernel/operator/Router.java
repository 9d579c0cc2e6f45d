package weft.kernel.operator;

import java.io.Serializable;
import java.util.Collections;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Makes messages to buckets of the rows of a partition. A task has one of its own for each
 * partition; what takes long to make is kept for the next.
 */
public abstract class Router implements Serializable {
  private static final long serialVersionUID = 1;

  /** No messages: what most rows become. */
  protected static final Iterator<Message> NONE = Collections.emptyIterator();

  /** Begins a partition. */
  protected abstract void begin();

  /** The messages that a row becomes at once; it is gone when the next one comes. */
  protected abstract Iterator<Message> take(InternalRow row);

  /** The messages that come when the partition has ended. */
  protected abstract Iterator<Message> end();

  protected static Iterator<Message> one(Message message) {
    return Collections.singleton(message).iterator();
  }
}
