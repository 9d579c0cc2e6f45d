package weft.kernel.bytes;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** What is unpacked is what was packed, and what repeats itself is shorter in between. */
class PackedTest {
  private static Blob blob(byte[] bytes) {
    Blob blob = new Blob();
    blob.putArray(bytes);
    return blob;
  }

  private static void assertKept(byte[] bytes) {
    assertArrayEquals(bytes, Packed.unpack(Packed.pack(blob(bytes))).getArray());
  }

  @Test
  void bytesOfEveryLengthComeBack() {
    Random random = new Random(1);
    for (int length : new int[] {0, 1, Packed.MANY - 5, Packed.MANY - 4, Packed.MANY, 100_000}) {
      byte[] bytes = new byte[length];
      assertKept(bytes);
      random.nextBytes(bytes);
      assertKept(bytes);
    }
  }

  @Test
  void manyBytesThatRepeatThemselvesTakeLittle() {
    assertTrue(Packed.pack(blob(new byte[10_000])).length < 100);
    assertEquals(1 + 4 + 10, Packed.pack(blob(new byte[10])).length);
  }
}
