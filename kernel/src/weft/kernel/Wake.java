package weft.kernel;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Wakes the queries that wait for more when this process adds to a stream that they read. What another process adds is
 * seen when they look again by themselves.
 */
public final class Wake {
  private static final Map<String, Long> ADDED = new HashMap<>();
  private static final Set<String> RELEASED = new HashSet<>();
  private static final Set<String> BUSY = new HashSet<>();

  private Wake() {}

  /** Something was added to the table in a folder, or asked of its readers. */
  public static synchronized void added(String path) {
    ADDED.merge(path, 1L, Long::sum);
    Wake.class.notifyAll();
  }

  /** A batch of this query was made: it may have left something for the next. */
  static synchronized void ran(String query) {
    BUSY.add(query);
  }

  /** A query is to wait no more: it is about to be stopped. */
  public static synchronized void release(String query) {
    RELEASED.add(query);
    Wake.class.notifyAll();
  }

  /** A query is over; one of the same name may wait again. */
  static synchronized void forget(String query) {
    RELEASED.remove(query);
    BUSY.remove(query);
  }

  /**
   * Waits until something is added to one of these tables after {@code seen}, at most so long, and returns what to pass as
   * {@code seen} next time. A query that just ran a batch does not wait.
   */
  static synchronized long await(String query, Set<String> paths, long seen, long millis) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    boolean ran = BUSY.remove(query);
    while (!ran && count(paths) == seen && !RELEASED.contains(query)) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (left <= 0) {
        break;
      }
      try {
        Wake.class.wait(left);
      } catch (InterruptedException e) {
        throw Sneaky.raise(e);
      }
    }
    return count(paths);
  }

  private static long count(Set<String> paths) {
    return paths.stream().mapToLong(path -> ADDED.getOrDefault(path, 0L)).sum();
  }
}
