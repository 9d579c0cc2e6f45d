package weft.kernel.window.time;

/**
 * Arithmetic of times that stops at the limits of a long: what lies beyond the last of them never
 * comes.
 */
public final class Millis {
  /** No time: what is said of a watermark that is not there yet. */
  public static final long NONE = Long.MIN_VALUE;

  private static final long MICROS = 1000;

  private Millis() {}

  public static long plus(long a, long b) {
    long sum = a + b;
    return ((a ^ sum) & (b ^ sum)) < 0 ? limit(a) : sum;
  }

  public static long minus(long a, long b) {
    long difference = a - b;
    return ((a ^ b) & (a ^ difference)) < 0 ? limit(a) : difference;
  }

  /** The last multiple of a length that is not after a time. */
  public static long floor(long time, long length) {
    return minus(time, Math.floorMod(time, length));
  }

  /** The first multiple of a length that is not before a time. */
  static long ceiling(long time, long length) {
    long rest = Math.floorMod(time, length);
    return rest == 0 ? time : plus(time, length - rest);
  }

  /** The first multiple of a length that is after a time. */
  public static long next(long time, long length) {
    return plus(time, length - Math.floorMod(time, length));
  }

  /** Milliseconds as Spark's microseconds. */
  public static long toMicros(long ms) {
    return ms > Long.MAX_VALUE / MICROS || ms < Long.MIN_VALUE / MICROS ? limit(ms) : ms * MICROS;
  }

  private static long limit(long sign) {
    return sign < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
  }
}
