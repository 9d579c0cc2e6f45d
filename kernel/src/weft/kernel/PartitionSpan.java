package weft.kernel;

import java.io.Serializable;

/** How many rows of one source partition there were, and which event times they spanned, in microseconds. */
final class PartitionSpan implements Serializable {
  private static final long serialVersionUID = 1L;

  long rows;
  long earliest = Long.MAX_VALUE;
  long latest = Long.MIN_VALUE;

  void addTime(long micros) {
    earliest = Math.min(earliest, micros);
    latest = Math.max(latest, micros);
  }

  void add(PartitionSpan other) {
    rows += other.rows;
    addTime(other.earliest);
    addTime(other.latest);
  }

  boolean hasTimes() {
    return earliest <= latest;
  }
}
