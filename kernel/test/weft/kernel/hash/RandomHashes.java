package weft.kernel.hash;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Hashes of nothing, the same for the same seed. */
final class RandomHashes {
  private final Random random;

  RandomHashes(long seed) {
    this.random = new Random(seed);
  }

  List<byte[]> next(int count) {
    List<byte[]> hashes = new ArrayList<>();
    for (int left = count; left > 0; left--) {
      byte[] hash = new byte[32];
      random.nextBytes(hash);
      hashes.add(hash);
    }
    return hashes;
  }
}
