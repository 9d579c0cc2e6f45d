package weft.kernel.query;

import java.util.Arrays;
import java.util.function.BiConsumer;
import weft.kernel.bytes.Blob;
import weft.kernel.bytes.Slice;

/** A few values by key, looked through one by one. */
final class Chunk {
  private static final int START = 4;

  private Keyed[] entries;
  private int size;

  Chunk() {
    entries = new Keyed[START];
  }

  /** The entries that {@link #write} wrote; they stay where they are read. */
  static Chunk read(Blob in, int count) {
    Chunk chunk = new Chunk();
    chunk.entries = new Keyed[Math.max(START, count + 1)];
    chunk.size = count;
    for (int at = 0; at < count; at++) {
      chunk.entries[at] = new Keyed(in.getSlice(), in.getSlice());
    }
    return chunk;
  }

  void write(Blob out) {
    for (int at = 0; at < size; at++) {
      out.putSlice(entries[at].key());
      out.putSlice(entries[at].value());
    }
  }

  int size() {
    return size;
  }

  Slice get(byte[] key) {
    int at = find(key);
    return at < 0 ? null : entries[at].value();
  }

  /** Sets the value of a key; returns whether the key is new. */
  boolean put(Slice key, Slice value) {
    int at = find(key);
    if (at >= 0) {
      entries[at] = new Keyed(entries[at].key(), value);
      return false;
    }
    if (size == entries.length) {
      entries = Arrays.copyOf(entries, size * 2);
    }
    entries[size++] = new Keyed(key, value);
    return true;
  }

  /** Forgets a key; returns whether it was there. The others stay in their order. */
  boolean remove(byte[] key) {
    int at = find(key);
    if (at < 0) {
      return false;
    }
    size--;
    System.arraycopy(entries, at + 1, entries, at, size - at);
    entries[size] = null;
    return true;
  }

  void forEach(BiConsumer<Slice, Slice> each) {
    for (int at = 0; at < size; at++) {
      each.accept(entries[at].key(), entries[at].value());
    }
  }

  private int find(byte[] key) {
    return find(Slice.of(key));
  }

  private int find(Slice key) {
    for (int at = 0; at < size; at++) {
      if (entries[at].key().equals(key)) {
        return at;
      }
    }
    return -1;
  }
}
