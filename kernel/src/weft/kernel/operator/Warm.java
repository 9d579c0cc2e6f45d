package weft.kernel.operator;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a bucket has in memory of its state, from one batch to the next: what was used last, and so
 * much of it as memory allows. All of it is in the store too, so it may be let go of at any time.
 *
 * <p>What is kept is good for one version of a state. Who finds another version begins with
 * nothing.
 */
public final class Warm {
  /** So much of the heap is for what all buckets have in memory together. */
  private static final long MOST = Runtime.getRuntime().maxMemory() / 8;

  /** What a map needs for each thing, about. */
  private static final int ENTRY = 96;

  /** Those that no batch has now, by the state that they are of; who was used last is last. */
  private static final Map<String, Idle> KEPT = new LinkedHashMap<>();

  private static long keptBytes;

  private final Map<Object, Counted> things = new LinkedHashMap<>(16, 0.75f, true);
  private final long most;
  private boolean isWhole;
  private long bytes;

  /** Something that is kept in memory. */
  public interface Thing {
    /** How many bytes it takes, about. */
    long bytes();
  }

  private record Counted(Thing thing, long bytes) {}

  private record Idle(Warm warm, long version) {}

  private Warm(boolean isWhole, long most) {
    this.isWhole = isWhole;
    this.most = most;
  }

  /**
   * Nothing in memory yet.
   *
   * @param isWhole whether there is nothing in the state either
   * @param most how many bytes it may take
   */
  public static Warm empty(boolean isWhole, long most) {
    return new Warm(isWhole, most);
  }

  /** What was kept of a version of a state, for whoever asks first. */
  static Warm take(String state, long version) {
    synchronized (KEPT) {
      Idle idle = KEPT.remove(state);
      if (idle != null) {
        keptBytes -= idle.warm().bytes;
        if (idle.version() == version) {
          return idle.warm();
        }
      }
    }
    return empty(version == 0, MOST);
  }

  /** Keeps it for a version of a state; of what was used longest ago as much goes as has to. */
  void keep(String state, long version) {
    synchronized (KEPT) {
      Idle before = KEPT.remove(state);
      KEPT.put(state, new Idle(this, version));
      keptBytes += bytes - (before == null ? 0 : before.warm().bytes);
      Iterator<Idle> oldest = KEPT.values().iterator();
      while (keptBytes > MOST && oldest.hasNext()) {
        Warm warm = oldest.next().warm();
        long had = warm.bytes;
        warm.shrink(Math.max(0, had - (keptBytes - MOST)));
        keptBytes -= had - warm.bytes;
        if (warm.things.isEmpty()) {
          oldest.remove();
        }
      }
    }
  }

  /** The thing of a name, or null where it is not in memory. */
  public Thing find(Object name) {
    Counted found = things.get(name);
    return found == null ? null : found.thing();
  }

  /** Whether what is not in memory is nowhere. */
  public boolean isWhole() {
    return isWhole;
  }

  /** Has a thing in memory, or counts again what it takes; others may go for it. */
  public void put(Object name, Thing thing) {
    long size = thing.bytes() + ENTRY;
    Counted before = things.put(name, new Counted(thing, size));
    bytes += size - (before == null ? 0 : before.bytes());
    shrink(most);
  }

  private void shrink(long to) {
    Iterator<Counted> oldest = things.values().iterator();
    while (bytes > to && oldest.hasNext()) {
      bytes -= oldest.next().bytes();
      oldest.remove();
      isWhole = false;
    }
  }
}
