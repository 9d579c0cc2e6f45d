package weft.kernel.gate;

import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;

/**
 * What the functions of one record have made and done so far, in a thread that computes one record
 * at a time.
 *
 * <p>It is counted and not timed, so that the same record meets the same limit again in a replay.
 * What a function is about to make is charged before it is made: a value that would be too large is
 * never there.
 */
public final class Budget {
  /** The most bytes that a function may make as one value. */
  public static final long VALUE_BYTES = 16L << 20;

  /** How much of a record's budget one byte takes that is kept; work takes it by the piece. */
  public static final long UNITS_PER_BYTE = 4;

  /**
   * The most that all functions of all steps may make and do for one record: 64 MiB, or some tenths
   * of a second.
   */
  public static final long RECORD_UNITS = (64L << 20) * UNITS_PER_BYTE;

  private static final int ROUNDS_PER_LOOK = 1 << 12;
  private static final ThreadLocal<Budget> CURRENT = ThreadLocal.withInitial(Budget::new);

  private long made;
  private long work;
  private int rounds;

  /** The budget of the record that this thread computes. */
  public static Budget current() {
    return CURRENT.get();
  }

  /** Starts to count for a step of a record that has spent so much in the steps before. */
  public void begin(long spent) {
    made = 0;
    work = spent;
  }

  /** All that the record has spent. */
  public long spent() {
    return work + made * UNITS_PER_BYTE;
  }

  /** Takes what a function is about to make. */
  public void make(long bytes) {
    if (bytes > VALUE_BYTES || bytes < 0) {
      throw new TooMuchException(
          "[VALUE_TOO_LARGE] A value of "
              + shown(bytes)
              + " bytes would be made; at most "
              + VALUE_BYTES
              + " are.");
    }
    made += bytes;
    check();
  }

  /** Takes what a function is about to do. */
  public void work(long units) {
    work += units < 0 ? RECORD_UNITS : Math.min(units, RECORD_UNITS + 1);
    check();
  }

  /**
   * Where a round of a loop begins: what is made in it is given back at its end, and only its work
   * remains.
   */
  public long beginRound(long units) {
    work(units);
    if (++rounds % ROUNDS_PER_LOOK == 0) {
      stopIfKilled();
    }
    return made;
  }

  /** Ends a round that began with so much made, of which something is kept. */
  public void endRound(long before, long kept) {
    work += made - before;
    made = before;
    make(kept);
  }

  private void check() {
    if (spent() > RECORD_UNITS) {
      throw new TooMuchException(
          "[RECORD_TOO_COSTLY] The functions make or do too much with this record: more than "
              + RECORD_UNITS / UNITS_PER_BYTE
              + " bytes, or as much work.");
    }
  }

  /**
   * Ends a computation whose task is to end; a loop of rounds is the one place that can take long.
   */
  static void stopIfKilled() {
    TaskContext task = TaskContext.get();
    if (task != null && task.isInterrupted()) {
      throw new TaskKilledException("it was asked to end");
    }
  }

  private static String shown(long bytes) {
    return bytes < 0 ? "more than " + Long.MAX_VALUE : Long.toString(bytes);
  }
}
