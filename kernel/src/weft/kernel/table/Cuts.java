package weft.kernel.table;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The knots of a stream that were rolled back, as disjoint ranges (keep, head]. */
final class Cuts {
  private final TreeMap<Long, Long> headByKeep = new TreeMap<>();

  void add(long keep, long head) {
    long low = keep;
    long high = head;
    Map.Entry<Long, Long> before = headByKeep.floorEntry(low);
    if (before != null && before.getValue() >= low) {
      low = before.getKey();
      high = Math.max(high, before.getValue());
    }
    Map<Long, Long> inside = headByKeep.subMap(low, true, high, true);
    for (long end : inside.values()) {
      high = Math.max(high, end);
    }
    inside.clear();
    headByKeep.put(low, high);
  }

  /** Knots in (keep, head] are no longer cut. */
  void remove(long keep, long head) {
    for (Map.Entry<Long, Long> range : List.copyOf(headByKeep.entrySet())) {
      long low = range.getKey();
      long high = range.getValue();
      if (high <= keep || low >= head) {
        continue;
      }
      headByKeep.remove(low);
      if (low < keep) {
        headByKeep.put(low, keep);
      }
      if (high > head) {
        headByKeep.put(head, high);
      }
    }
  }

  boolean contains(long knot) {
    Map.Entry<Long, Long> range = headByKeep.lowerEntry(knot);
    return range != null && range.getValue() >= knot;
  }

  /**
   * The highest knot up to {@code knot} that is not cut, whether or not there is one with that
   * number.
   */
  long lastKept(long knot) {
    return contains(knot) ? headByKeep.lowerKey(knot) : knot;
  }

  /** The ranges, as the last knot that is kept before each, and its last knot. */
  Map<Long, Long> ranges() {
    return new TreeMap<>(headByKeep);
  }

  void clear() {
    headByKeep.clear();
  }
}
