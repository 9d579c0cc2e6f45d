package weft.kernel.hash;

import java.io.Serializable;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigInteger;
import java.nio.ByteOrder;

/** A sum of 256-bit hashes modulo 2^256, in which order does not matter. */
public final class HashSum implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final int LIMBS = 8;
  private static final long MASK = 0xffffffffL;
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  // Big-endian limbs of 32 bits whose carries wait in the upper half of each long.
  private final long[] limbs = new long[LIMBS];
  private int pending;

  /** Adds the 32 bytes of one hash. */
  public void add(byte[] hash) {
    for (int i = 0; i < LIMBS; i++) {
      limbs[i] += (int) INT.get(hash, i * 4) & MASK;
    }
    if (++pending == Integer.MAX_VALUE) {
      carry();
    }
  }

  public void add(HashSum other) {
    carry();
    other.carry();
    for (int i = 0; i < LIMBS; i++) {
      limbs[i] += other.limbs[i];
    }
    carry();
  }

  private void carry() {
    long carry = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
      long limb = limbs[i] + carry;
      limbs[i] = limb & MASK;
      carry = limb >>> 32;
    }
    pending = 0;
  }

  /** The sum as 64 hexadecimal digits. */
  public String hex() {
    carry();
    BigInteger value = BigInteger.ZERO;
    for (long limb : limbs) {
      value = value.shiftLeft(32).or(BigInteger.valueOf(limb));
    }
    return String.format("%064x", value);
  }
}
