package weft.kernel.change;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import weft.kernel.bytes.Blob;

/** A chunk has the last value of each key, also past the size that it starts with, and as bytes. */
class ChunkTest {
  private static byte[] bytes(String text) {
    return text.getBytes();
  }

  private static Map<String, String> entries(Chunk chunk) {
    Map<String, String> found = new TreeMap<>();
    chunk.forEach(
        (key, value) -> assertNull(found.put(new String(key), new String(value)), "twice"));
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
    assertTrue(chunk.put(bytes("a"), bytes("1")));
    assertFalse(chunk.put(bytes("a"), bytes("2")));
    assertEquals(1, chunk.size());
    assertArrayEquals(bytes("2"), chunk.get(bytes("a")));
    assertNull(chunk.get(bytes("b")));
  }

  @Test
  void aKeyThatIsForgottenTakesNoOtherWithIt() {
    Chunk chunk = new Chunk();
    for (String key : new String[] {"a", "b", "c"}) {
      chunk.put(bytes(key), bytes(key + key));
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
      chunk.put(bytes("k" + number), bytes("v" + number));
    }
    Chunk read = reread(chunk);
    assertEquals(entries(chunk), entries(read));
    for (int number = 9; number < 40; number++) {
      assertTrue(read.put(bytes("k" + number), bytes("v" + number)));
    }
    assertEquals(40, entries(read).size());
    assertArrayEquals(bytes("v17"), read.get(bytes("k17")));
  }

  @Test
  void anEmptyChunkAndAnEmptyValueAreKept() {
    assertEquals(0, reread(new Chunk()).size());
    Chunk chunk = new Chunk();
    chunk.put(bytes("reader"), new byte[0]);
    assertArrayEquals(new byte[0], reread(chunk).get(bytes("reader")));
  }
}
