package weft.kernel.bytes;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/** A slice is its bytes, wherever they stand. */
class SliceTest {
  private static final Slice IN_THE_MIDDLE = new Slice(new byte[] {9, 1, 2, 3, 9}, 1, 3);

  @Test
  void slicesOfTheSameBytesAreEqual() {
    Slice alone = Slice.of(new byte[] {1, 2, 3});
    assertEquals(alone, IN_THE_MIDDLE);
    assertEquals(alone.hashCode(), IN_THE_MIDDLE.hashCode());
    assertNotEquals(alone, new Slice(alone.array(), 0, 2));
    assertArrayEquals(alone.array(), IN_THE_MIDDLE.toArray());
  }

  @Test
  void nothingIsNoSlice() {
    assertNull(Slice.of(null));
    assertFalse(IN_THE_MIDDLE.equals(null));
    Blob blob = new Blob();
    blob.putSlice(null);
    blob.putSlice(IN_THE_MIDDLE);
    Blob read = Blob.reading(blob.toArray());
    assertNull(read.getSlice());
    assertEquals(IN_THE_MIDDLE, read.getSlice());
  }
}
