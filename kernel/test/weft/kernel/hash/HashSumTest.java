package weft.kernel.hash;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigInteger;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A sum of hashes is their sum modulo 2^256, in any order and in any parts. */
class HashSumTest {
  private final RandomHashes random = new RandomHashes(7);

  private static HashSum sum(List<byte[]> hashes) {
    HashSum sum = new HashSum();
    hashes.forEach(sum::add);
    return sum;
  }

  @Test
  void isTheSumModuloTwoToThe256() {
    List<byte[]> hashes = random.next(1000);
    BigInteger expected = BigInteger.ZERO;
    for (byte[] hash : hashes) {
      expected = expected.add(new BigInteger(1, hash));
    }
    expected = expected.mod(BigInteger.ONE.shiftLeft(256));
    assertEquals(String.format("%064x", expected), sum(hashes).hex());
  }

  @Test
  void doesNotDependOnOrderOrParts() {
    List<byte[]> hashes = random.next(101);
    String whole = sum(hashes).hex();
    Collections.shuffle(hashes, new Random(7));
    HashSum parts = new HashSum();
    parts.add(sum(hashes.subList(0, 40)));
    parts.add(sum(hashes.subList(40, 101)));
    assertEquals(whole, parts.hex());
  }

  @Test
  void ofNothingIsZero() {
    assertEquals("0".repeat(64), new HashSum().hex());
  }
}
