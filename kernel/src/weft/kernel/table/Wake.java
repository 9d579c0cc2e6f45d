package weft.kernel.table;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Wakes the queries that wait for more when this process adds to a stream that they read. What
 * another process adds is seen when they look again by themselves.
 */
public final class Wake {
  private static final Map<String, Long> ADDED = new HashMap<>();
  private static final Set<String> RELEASED = new HashSet<>();
  private static final Set<String> BUSY = new HashSet<>();

  private final String query;
  private final Set<String> keys;
  private long seen;

  /** The wait of a query, which ends by any of these tables and ticks. */
  public Wake(String query, Set<String> keys) {
    this.query = query;
    this.keys = keys;
  }

  /** Something was added to the table in a folder, or asked of its readers. */
  public static synchronized void added(String path) {
    ADDED.merge(path, 1L, Long::sum);
    Wake.class.notifyAll();
  }

  /** A batch of this query was made: it may have left something for the next. */
  public static synchronized void ran(String query) {
    BUSY.add(query);
  }

  /** A query is to wait no more: it is about to be stopped. */
  public static synchronized void release(String query) {
    RELEASED.add(query);
    Wake.class.notifyAll();
  }

  /** A query is over; one of the same name may wait again. */
  public static synchronized void forget(String query) {
    RELEASED.remove(query);
    BUSY.remove(query);
  }

  /**
   * Waits until something is added to one of the tables that the query reads, at most so long, and
   * says whether it was woken. A query that just ran a batch does not wait.
   */
  public boolean await(long millis) throws InterruptedException {
    synchronized (Wake.class) {
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
      boolean ran = BUSY.remove(query);
      long left = millis;
      while (!ran && count() == seen && !RELEASED.contains(query) && left > 0) {
        Wake.class.wait(left);
        left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      }
      boolean isWoken = ran || count() != seen || RELEASED.contains(query);
      seen = count();
      return isWoken;
    }
  }

  private long count() {
    return keys.stream().mapToLong(key -> ADDED.getOrDefault(key, 0L)).sum();
  }
}
