package weft.kernel.pattern;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.regex.Pattern;

/**
 * The characters that one place of a pattern takes. What they are is asked of Java's own matcher,
 * one character at a time, so that classes, properties and letters of either case mean what they
 * mean there; answers are kept.
 */
final class CharSet {
  private static final int BLOCK = 256;
  private static final int BITS = Long.SIZE;

  private final Pattern one;
  private final long[] first;
  private volatile AtomicReferenceArray<long[]> others;

  /** The set that a pattern for exactly one character describes, with Java's flags. */
  CharSet(String atom, int flags) {
    this.one = Pattern.compile(atom, flags);
    this.first = block(0);
  }

  boolean has(int character) {
    if (character < BLOCK) {
      return (first[character / BITS] >>> character & 1) != 0;
    }
    long[] block = kept(character / BLOCK);
    int at = character % BLOCK;
    return (block[at / BITS] >>> at & 1) != 0;
  }

  private long[] kept(int number) {
    if (others == null) {
      others = new AtomicReferenceArray<>((Character.MAX_CODE_POINT + 1) / BLOCK);
    }
    AtomicReferenceArray<long[]> blocks = others;
    long[] block = blocks.get(number);
    if (block == null) {
      block = block(number);
      blocks.set(number, block);
    }
    return block;
  }

  private long[] block(int number) {
    long[] block = new long[BLOCK / BITS];
    for (int at = 0; at < BLOCK; at++) {
      if (one.matcher(Character.toString(number * BLOCK + at)).matches()) {
        block[at / BITS] |= 1L << at;
      }
    }
    return block;
  }
}
