package weft.kernel.table;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The wait of a query for more: it ends when this process adds to a stream that the query reads, or
 * asks something of it. What another process adds is seen when the query looks again by itself.
 */
public final class Wake {
  private static final Map<String, Long> ADDED = new HashMap<>();

  private final Set<String> keys;
  private boolean isReleased;

  /** The wait that ends by any of these tables and ticks. */
  public Wake(Set<String> keys) {
    this.keys = Set.copyOf(keys);
  }

  /** Something was added to the table in a folder, or asked of its readers. */
  public static void added(String path) {
    synchronized (ADDED) {
      ADDED.merge(path, 1L, Long::sum);
      ADDED.notifyAll();
    }
  }

  /** The query waits no more: it is about to be stopped. */
  public void release() {
    synchronized (ADDED) {
      isReleased = true;
      ADDED.notifyAll();
    }
  }

  public boolean isReleased() {
    synchronized (ADDED) {
      return isReleased;
    }
  }

  /** How much was added so far; whoever looks for more, and waits then, asks before it looks. */
  public long count() {
    synchronized (ADDED) {
      return keys.stream().mapToLong(key -> ADDED.getOrDefault(key, 0L)).sum();
    }
  }

  /** Waits until more was added than there was, at most so long. */
  public void await(long seen, long millis) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    synchronized (ADDED) {
      long left = millis;
      while (!isReleased && count() == seen && left > 0) {
        ADDED.wait(left);
        left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      }
    }
  }

  /** Waits so long, whatever is added, unless it is released. */
  public void rest(long millis) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    synchronized (ADDED) {
      long left = millis;
      while (!isReleased && left > 0) {
        ADDED.wait(left);
        left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      }
    }
  }
}
