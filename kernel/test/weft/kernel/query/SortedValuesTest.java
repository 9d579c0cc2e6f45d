package weft.kernel.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import weft.kernel.bytes.Blob;
import weft.kernel.change.MapStore;

/** Values stand in their order whatever comes and goes, and a change touches a few pages. */
class SortedValuesTest {
  private static final byte[] NAME = {'p', 1};

  private MapStore store = new MapStore();

  private SortedValues open(byte[] written) {
    Blob in = written == null ? null : Blob.reading(written);
    return new SortedValues(store, NAME, in, Arrays::compareUnsigned);
  }

  private static byte[] written(SortedValues values) {
    Blob out = new Blob();
    values.write(out);
    return out.toArray();
  }

  private static byte[] bytes(String text) {
    return text.getBytes();
  }

  private static String text(int number) {
    return String.format("%06d", number);
  }

  private static void add(SortedValues values, String entry) {
    values.add(bytes(entry.substring(0, 3)), bytes(entry.substring(3)));
  }

  private static void remove(SortedValues values, String entry) {
    values.remove(bytes(entry.substring(0, 3)), bytes(entry.substring(3)));
  }

  private static List<String> first(SortedValues values, int most) {
    List<String> found = new ArrayList<>();
    values
        .first(most)
        .forEach(each -> found.add(new String(each.value()) + new String(each.key())));
    return found;
  }

  @Test
  void areThoseOfASortedSetThroughBatches() {
    Random random = new Random(7);
    for (int history = 0; history < 30; history++) {
      store = new MapStore();
      SortedValues values = open(null);
      TreeSet<String> expected = new TreeSet<>();
      for (int batch = 0; batch < 15; batch++) {
        boolean grows = random.nextBoolean();
        for (int turn = random.nextInt(300); turn > 0; turn--) {
          String entry = text(random.nextInt(2_000));
          if (random.nextInt(4) == 0 == grows) {
            remove(values, entry);
            expected.remove(entry);
          } else {
            add(values, entry);
            expected.add(entry);
          }
        }
        values = open(written(values));
        assertEquals(List.copyOf(expected), first(values, Integer.MAX_VALUE));
        List<String> few = expected.stream().limit(5).toList();
        assertEquals(few, first(values, 5));
        assertEquals(expected.isEmpty(), values.isEmpty());
      }
    }
  }

  @Test
  void aFewStandWithTheirOwner() {
    SortedValues values = open(null);
    for (int number = 0; number < 32; number++) {
      add(values, text(number));
    }
    assertEquals(32, first(open(written(values)), 100).size());
    assertTrue(store.keys().isEmpty());
  }

  @Test
  void aChangeOfManyWritesAFewPages() {
    SortedValues values = open(null);
    for (int number = 0; number < 100_000; number++) {
      add(values, text(number * 7919 % 1_000_003 % 1_000_000));
    }
    SortedValues read = open(written(values));
    store.written = 0;
    add(read, "500500");
    remove(read, text(7919 % 1_000_003));
    written(read);
    assertTrue(store.written <= 10, "pages written: " + store.written);
  }

  @Test
  void nothingIsLeftOfWhatIsGone() {
    SortedValues values = open(null);
    for (int number = 0; number < 3_000; number++) {
      add(values, text(number));
    }
    SortedValues read = open(written(values));
    assertTrue(store.keys().size() > 90);
    for (int number = 2_999; number >= 0; number--) {
      remove(read, text(number));
    }
    written(read);
    assertTrue(read.isEmpty());
    assertTrue(store.keys().isEmpty());
  }

  @Test
  void whatWasNeverThereCanBeForgotten() {
    SortedValues values = open(null);
    add(values, "001a");
    remove(values, "001b");
    remove(values, "002a");
    assertEquals(List.of("001a"), first(values, 9));
  }
}
