package weft.kernel.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import weft.kernel.bytes.Blob;
import weft.kernel.bytes.Slice;

/** A chunk has the last value of each key, also past the size that it starts with, and as bytes. */
class ChunkTest {
  private static byte[] bytes(String text) {
    return text.getBytes();
  }

  private static Slice slice(String text) {
    return Slice.of(bytes(text));
  }

  private static String text(Slice slice) {
    return new String(slice.toArray());
  }

  private static Map<String, String> entries(Chunk chunk) {
    Map<String, String> found = new TreeMap<>();
    chunk.forEach(
        (key, value) -> assertNull(found.put(text(key), text(value)), "twice"));
    return found;
  }

  private static Chunk reread(Chunk chunk) {
    Blob out = new Blob();
    chunk.write(out);
    return Chunk.read(Blob.reading(out.toArray()), chunk.size());
  }

  @Test
  void aKeyHasItsLastValue() {
    Chunk chunk = new Chunk();
    assertTrue(chunk.put(slice("a"), slice("1")));
    assertFalse(chunk.put(slice("a"), slice("2")));
    assertEquals(1, chunk.size());
    assertEquals(slice("2"), chunk.get(bytes("a")));
    assertNull(chunk.get(bytes("b")));
  }

  @Test
  void aKeyThatIsForgottenTakesNoOtherWithIt() {
    Chunk chunk = new Chunk();
    for (String key : new String[] {"a", "b", "c"}) {
      chunk.put(slice(key), slice(key + key));
    }
    assertTrue(chunk.remove(bytes("a")));
    assertFalse(chunk.remove(bytes("a")));
    assertEquals(Map.of("b", "bb", "c", "cc"), entries(chunk));
    assertTrue(chunk.remove(bytes("c")));
    assertTrue(chunk.remove(bytes("b")));
    assertEquals(0, chunk.size());
    assertNull(chunk.get(bytes("b")));
  }

  @Test
  void whatIsReadIsWhatWasWrittenAndCanGrow() {
    Chunk chunk = new Chunk();
    for (int number = 0; number < 9; number++) {
      chunk.put(slice("k" + number), slice("v" + number));
    }
    Chunk read = reread(chunk);
    assertEquals(entries(chunk), entries(read));
    for (int number = 9; number < 40; number++) {
      assertTrue(read.put(slice("k" + number), slice("v" + number)));
    }
    assertEquals(40, entries(read).size());
    assertEquals(slice("v17"), read.get(bytes("k17")));
  }

  @Test
  void anEmptyChunkAndAnEmptyValueAreKept() {
    assertEquals(0, reread(new Chunk()).size());
    Chunk chunk = new Chunk();
    chunk.put(slice("reader"), slice(""));
    assertEquals(slice(""), reread(chunk).get(bytes("reader")));
  }

  @Test
  void entriesStayInTheOrderInWhichTheyWereAskedFor() {
    Chunk chunk = new Chunk();
    for (String key : new String[] {"c", "a", "d", "b"}) {
      chunk.put(slice(key), slice(key));
    }
    chunk.remove(bytes("b"));
    StringBuilder found = new StringBuilder();
    reread(chunk).forEach((key, value) -> found.append(text(key)));
    assertEquals("cad", found.toString());
  }
}
