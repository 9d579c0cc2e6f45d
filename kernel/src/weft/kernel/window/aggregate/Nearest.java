package weft.kernel.window.aggregate;

import java.math.BigInteger;

/** The double that is nearest to a whole number of units or to a mean of them, rounded once. */
final class Nearest {
  private static final int MANTISSA_BITS = 53;

  /** The least double is two to the power of minus this. */
  private static final int LEAST = 1074;

  private Nearest() {}

  /**
   * The double nearest to a sum, divided by a count; ties go to the even one.
   *
   * @param sum in units of two to the power of {@code -scale}
   * @param scale at most that of the least double
   */
  static double mean(BigInteger sum, long count, int scale) {
    BigInteger size = sum.abs();
    BigInteger by = BigInteger.valueOf(count);
    // Two bits more than a double has: one that says which half, and one for all that is behind it.
    int more = Math.max(0, MANTISSA_BITS + 2 + by.bitLength() - size.bitLength());
    BigInteger[] parts = size.shiftLeft(more).divideAndRemainder(by);
    BigInteger quotient = parts[0].shiftLeft(1);
    return sum.signum()
        * rounded(parts[1].signum() == 0 ? quotient : quotient.setBit(0), scale + more + 1);
  }

  /** The double nearest to a whole number of least doubles. */
  static double sum(BigInteger units) {
    return units.signum() * rounded(units.abs(), LEAST);
  }

  private static double rounded(BigInteger size, int scale) {
    // Below the least normal double the last place is that of the least one.
    int cut = Math.max(0, Math.max(scale - LEAST, size.bitLength() - MANTISSA_BITS));
    BigInteger head = size.shiftRight(cut);
    boolean isHalf = cut > 0 && size.testBit(cut - 1);
    if (isHalf && (head.testBit(0) || size.getLowestSetBit() < cut - 1)) {
      head = head.add(BigInteger.ONE);
    }
    return Math.scalb(head.doubleValue(), cut - scale);
  }
}
