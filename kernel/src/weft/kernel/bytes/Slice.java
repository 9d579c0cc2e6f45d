package weft.kernel.bytes;

import java.util.Arrays;

/**
 * Some bytes of an array, where they stand.
 *
 * @param array the array
 * @param from where they begin
 * @param length how many they are
 */
public record Slice(byte[] array, int from, int length) {

  /** All bytes of an array. */
  public static Slice of(byte[] bytes) {
    return bytes == null ? null : new Slice(bytes, 0, bytes.length);
  }

  /** The bytes in an array of their own. */
  public byte[] toArray() {
    return Arrays.copyOfRange(array, from, from + length);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Slice slice
        && slice.length == length
        && Arrays.equals(
            array, from, from + length, slice.array, slice.from, slice.from + slice.length);
  }

  @Override
  public int hashCode() {
    int hash = 1;
    for (int at = from; at < from + length; at++) {
      hash = 31 * hash + array[at];
    }
    return hash;
  }
}
