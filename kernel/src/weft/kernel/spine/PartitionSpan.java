package weft.kernel.spine;

import java.io.Serializable;

/**
 * The event times of one source partition: how far they reached, and how many lay too far ahead.
 */
final class PartitionSpan implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final long NONE = Long.MIN_VALUE;

  long ahead;

  /** The highest event time in microseconds, of those that were not too far ahead. */
  private long latest = NONE;

  void addTime(long micros) {
    latest = Math.max(latest, micros);
  }

  void add(PartitionSpan other) {
    ahead += other.ahead;
    addTime(other.latest);
  }

  Long latest() {
    return latest == NONE ? null : latest;
  }
}
