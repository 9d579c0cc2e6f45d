package weft.kernel.table;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The wait of a pipeline for more: it ends when this process adds to a stream that the pipeline
 * reads, or asks something of it; nobody else is woken. What another process adds is seen when the
 * pipeline looks again by itself.
 */
public final class Wake implements AutoCloseable {
  private static final Map<String, Set<Wake>> WAITING = new ConcurrentHashMap<>();

  private final Set<String> keys;
  private long added;
  private boolean isReleased;

  /** The wait that ends by any of these tables and ticks, until it is closed. */
  public Wake(Set<String> keys) {
    this.keys = Set.copyOf(keys);
    for (String key : this.keys) {
      WAITING.compute(
          key,
          (any, known) -> {
            Set<Wake> waiting = known == null ? ConcurrentHashMap.newKeySet() : known;
            waiting.add(this);
            return waiting;
          });
    }
  }

  /** Something was added to the table in a folder, or asked of its readers. */
  public static void added(String key) {
    WAITING.getOrDefault(key, Set.of()).forEach(Wake::add);
  }

  private synchronized void add() {
    added++;
    notifyAll();
  }

  /** The pipeline waits no more: it is about to be stopped. */
  public synchronized void release() {
    isReleased = true;
    notifyAll();
  }

  public synchronized boolean isReleased() {
    return isReleased;
  }

  /** How much was added so far; whoever looks for more, and waits then, asks before it looks. */
  public synchronized long count() {
    return added;
  }

  /** Waits until more was added than there was, at most so long. */
  public synchronized void await(long seen, long millis) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = millis; !isReleased && added == seen && left > 0; left = left(deadline)) {
      wait(left);
    }
  }

  /** Waits so long, whatever is added, unless it is released. */
  public synchronized void rest(long millis) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = millis; !isReleased && left > 0; left = left(deadline)) {
      wait(left);
    }
  }

  private static long left(long deadline) {
    return TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
  }

  /** It is told of nothing any longer. */
  @Override
  public void close() {
    for (String key : keys) {
      WAITING.computeIfPresent(
          key,
          (any, waiting) -> {
            waiting.remove(this);
            return waiting.isEmpty() ? null : waiting;
          });
    }
  }
}
