package weft.kernel.spark;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The keys of a store that has them in no order, so that those that begin with some bytes are found
 * without looking at all. They are made when first asked for, and kept from version to version.
 */
final class SortedKeys {
  /** So many stores have theirs kept, those that were used last. */
  private static final int MOST = 64;

  private static final Map<String, Versioned> KEPT =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Versioned> eldest) {
          return size() > MOST;
        }
      };

  private final TreeSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);

  private record Versioned(SortedKeys keys, long version) {}

  /** Those of a version of a store, for whoever asks first; null where there are none. */
  static SortedKeys take(String store, long version) {
    synchronized (KEPT) {
      Versioned kept = KEPT.remove(store);
      return kept == null || kept.version() != version ? null : kept.keys();
    }
  }

  void keep(String store, long version) {
    synchronized (KEPT) {
      KEPT.put(store, new Versioned(this, version));
    }
  }

  void add(byte[] key) {
    keys.add(key);
  }

  void remove(byte[] key) {
    keys.remove(key);
  }

  /** Those that begin with some bytes, in their order. */
  List<byte[]> from(byte[] prefix) {
    return keys.tailSet(prefix, true).stream()
        .takeWhile(
            key ->
                key.length >= prefix.length
                    && Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length))
        .toList();
  }
}
