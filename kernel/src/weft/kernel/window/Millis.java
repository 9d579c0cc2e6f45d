package weft.kernel.window;

/**
 * Arithmetic of times that stops at the limits of a long: what lies beyond the last of them never
 * comes.
 */
final class Millis {
  private static final long MICROS = 1000;

  private Millis() {}

  static long plus(long a, long b) {
    long sum = a + b;
    return ((a ^ sum) & (b ^ sum)) < 0 ? limit(a) : sum;
  }

  static long minus(long a, long b) {
    long difference = a - b;
    return ((a ^ b) & (a ^ difference)) < 0 ? limit(a) : difference;
  }

  /** The last multiple of a length that is not after a time. */
  static long floor(long time, long length) {
    return minus(time, Math.floorMod(time, length));
  }

  /** The first multiple of a length that is not before a time. */
  static long ceiling(long time, long length) {
    long rest = Math.floorMod(time, length);
    return rest == 0 ? time : plus(time, length - rest);
  }

  /** The first multiple of a length that is after a time. */
  static long next(long time, long length) {
    return plus(time, length - Math.floorMod(time, length));
  }

  /** Milliseconds as Spark's microseconds. */
  static long toMicros(long ms) {
    return ms > Long.MAX_VALUE / MICROS || ms < Long.MIN_VALUE / MICROS ? limit(ms) : ms * MICROS;
  }

  private static long limit(long sign) {
    return sign < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
  }
}
