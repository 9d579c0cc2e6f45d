package weft.kernel.sink;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * How long a task may wait: as long as it has worked, and a moment. One that waits for longer holds
 * a core that other pipelines could use, and should give it back.
 */
final class Patience {
  private static final long MOMENT_NS = 200_000_000L;
  private static final long LOOK_NS = 500_000L;

  private final long began = System.nanoTime();
  private long waited;

  /** Waits for a condition; false when that takes too long. */
  boolean await(BooleanSupplier condition) {
    long start = System.nanoTime();
    long most = MOMENT_NS + (start - began - waited) - waited;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > most || Thread.currentThread().isInterrupted()) {
        waited += System.nanoTime() - start;
        return false;
      }
      LockSupport.parkNanos(LOOK_NS);
    }
    waited += System.nanoTime() - start;
    return true;
  }
}
