package weft.kernel.bytes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

/** What is written is read back in the same order, as far as an array reaches and no further. */
class BlobTest {
  @Test
  void growsWithWhatIsWritten() {
    Blob blob = Blob.ofSize(1);
    long[] many = new long[1_000];
    many[999] = 7;
    blob.putInt(3);
    blob.putLongs(many, 0, many.length);
    Blob read = Blob.reading(blob.toArray());
    assertEquals(3, read.getInt());
    long[] back = new long[1_000];
    read.getLongs(back, 0, back.length);
    assertEquals(7, back[999]);
  }

  @Test
  void refusesWhatNoArrayHolds() {
    Blob blob = new Blob();
    blob.seek(Blob.MOST - 3);
    assertThrows(IllegalStateException.class, () -> blob.putInt(1));
    blob.seek(Integer.MAX_VALUE - 1);
    assertThrows(IllegalStateException.class, () -> blob.putLong(1));
    long[] many = new long[1];
    assertThrows(IllegalStateException.class, () -> blob.putLongs(many, 0, 1 << 29));
    assertThrows(IllegalStateException.class, () -> Blob.ofSize(Blob.MOST + 1L));
  }
}
