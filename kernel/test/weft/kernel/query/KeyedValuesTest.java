package weft.kernel.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import weft.kernel.bytes.Blob;
import weft.kernel.bytes.Slice;
import weft.kernel.change.MapStore;

/** Values by key are those that a plain map would have, however many, and from batch to batch. */
class KeyedValuesTest {
  private static final byte[] NAME = {'r', 1};

  /** So many stand with their owner. */
  private static final int FEW = 32;

  private final MapStore store = new MapStore();

  private static byte[] bytes(String text) {
    return text.getBytes();
  }

  private static String text(Slice slice) {
    return new String(slice.toArray());
  }

  private KeyedValues open(Blob in) {
    return new KeyedValues(store, NAME, in);
  }

  /** The same values as the next batch finds them. */
  private KeyedValues next(KeyedValues values) {
    return open(Blob.reading(written(values)));
  }

  private static byte[] written(KeyedValues values) {
    Blob out = new Blob();
    values.write(out);
    return out.toArray();
  }

  private static void fill(KeyedValues values, int from, int to) {
    for (int number = from; number < to; number++) {
      values.put(bytes("k" + number), bytes("v" + number));
    }
  }

  private static Map<String, String> entries(KeyedValues values) {
    Map<String, String> found = new TreeMap<>();
    values.forEach(
        (key, value) -> assertNull(found.put(text(key), text(value)), "twice"));
    assertEquals(found.size(), values.size());
    return found;
  }

  @Test
  void aFewStandWithTheirOwner() {
    KeyedValues values = open(null);
    fill(values, 0, FEW);
    assertEquals(FEW, entries(next(values)).size());
    assertTrue(store.keys().isEmpty());
  }

  @Test
  void oneMoreSpreadsThemOverChunks() {
    KeyedValues values = open(null);
    fill(values, 0, FEW + 1);
    KeyedValues read = next(values);
    assertEquals(2, store.keys().size());
    assertEquals(entries(values), entries(read));
    assertEquals(Slice.of(bytes("v17")), read.get(bytes("k17")));
    assertNull(read.get(bytes("k33")));
  }

  @Test
  void allAreThereThroughManySplitsInOneBatchAndInSeveral() {
    KeyedValues once = open(null);
    fill(once, 0, 1_000);
    assertEquals(1_000, entries(once).size());
    Map<String, String> expected = entries(next(once));
    KeyedValues values = new KeyedValues(new MapStore(), NAME, null);
    for (int number = 0; number < 1_000; number += 50) {
      fill(values, number, number + 50);
    }
    assertEquals(expected, entries(values));
  }

  @Test
  void aChangeWritesItsOwnChunkOnly() {
    KeyedValues values = open(null);
    fill(values, 0, 1_000);
    KeyedValues read = next(values);
    store.written = 0;
    read.put(bytes("k500"), bytes("new"));
    KeyedValues again = next(read);
    assertEquals(1, store.written);
    assertEquals(Slice.of(bytes("new")), again.get(bytes("k500")));
    assertEquals(1_000, entries(again).size());
    store.written = 0;
    next(again);
    assertEquals(0, store.written);
  }

  @Test
  void aKeyThatWasNeverThereCanBeForgotten() {
    KeyedValues values = open(null);
    fill(values, 0, 40);
    values.remove(bytes("k40"));
    assertEquals(40, values.size());
  }

  @Test
  void nothingIsLeftInTheStoreOfWhatIsGone() {
    KeyedValues values = open(null);
    fill(values, 0, 500);
    KeyedValues read = next(values);
    assertTrue(store.keys().size() > 10);
    for (int number = 0; number < 500; number++) {
      read.remove(bytes("k" + number));
    }
    assertEquals(0, read.size());
    KeyedValues empty = next(read);
    assertTrue(store.keys().isEmpty());
    fill(empty, 0, 3);
    assertEquals(Map.of("k0", "v0", "k1", "v1", "k2", "v2"), entries(next(empty)));
  }

  @Test
  void twoWithNamesOfTheirOwnShareAStore() {
    KeyedValues one = open(null);
    KeyedValues other = new KeyedValues(store, new byte[] {'s', 1}, null);
    fill(one, 0, 100);
    fill(other, 50, 150);
    byte[] ofOther = written(other);
    assertEquals(100, entries(next(one)).size());
    KeyedValues read = new KeyedValues(store, new byte[] {'s', 1}, Blob.reading(ofOther));
    assertEquals(Slice.of(bytes("v149")), read.get(bytes("k149")));
    assertNull(read.get(bytes("k0")));
  }

  @Test
  void areThoseOfAMapThroughBatches() {
    Random random = new Random(5);
    for (int history = 0; history < 20; history++) {
      MapStore kept = new MapStore();
      KeyedValues values = new KeyedValues(kept, NAME, null);
      Map<String, String> expected = new TreeMap<>();
      for (int batch = 0; batch < 12; batch++) {
        for (int turn = random.nextInt(120); turn > 0; turn--) {
          String key = "k" + random.nextInt(400);
          if (random.nextInt(3) == 0) {
            values.remove(bytes(key));
            expected.remove(key);
          } else {
            String value = "v" + random.nextInt();
            values.put(bytes(key), bytes(value));
            expected.put(key, value);
          }
        }
        values = new KeyedValues(kept, NAME, Blob.reading(written(values)));
        assertEquals(expected, entries(values));
      }
    }
  }
}
