package weft.kernel.sink;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/** How much of a share is in the open transaction of its sender. */
final class Progress {
  final SlotPosition after;
  final Set<ByteBuffer> retracted = new HashSet<>();
  private final long began = System.nanoTime();
  long rows;
  boolean isRead;

  Progress(SlotPosition after) {
    this.after = after;
  }

  boolean isOlderThan(Duration time) {
    return System.nanoTime() - began > time.toNanos();
  }
}
