package weft.kernel.change;

import java.util.Arrays;
import java.util.function.BiConsumer;
import weft.kernel.bytes.Blob;

/** A few values by key, looked through one by one. */
final class Chunk {
  private static final int START = 4;

  private byte[][] keys;
  private byte[][] values;
  private int size;

  Chunk() {
    keys = new byte[START][];
    values = new byte[START][];
  }

  static Chunk read(Blob in, int count) {
    Chunk chunk = new Chunk();
    chunk.keys = new byte[Math.max(START, count + 1)][];
    chunk.values = new byte[chunk.keys.length][];
    chunk.size = count;
    for (int at = 0; at < count; at++) {
      chunk.keys[at] = in.getArray();
      chunk.values[at] = in.getArray();
    }
    return chunk;
  }

  void write(Blob out) {
    for (int at = 0; at < size; at++) {
      out.putArray(keys[at]);
      out.putArray(values[at]);
    }
  }

  int size() {
    return size;
  }

  byte[] get(byte[] key) {
    int at = find(key);
    return at < 0 ? null : values[at];
  }

  /** Sets the value of a key; returns whether the key is new. */
  boolean put(byte[] key, byte[] value) {
    int at = find(key);
    if (at >= 0) {
      values[at] = value;
      return false;
    }
    if (size == keys.length) {
      keys = Arrays.copyOf(keys, size * 2);
      values = Arrays.copyOf(values, size * 2);
    }
    keys[size] = key;
    values[size++] = value;
    return true;
  }

  /** Forgets a key; returns whether it was there. */
  boolean remove(byte[] key) {
    int at = find(key);
    if (at < 0) {
      return false;
    }
    size--;
    keys[at] = keys[size];
    values[at] = values[size];
    return true;
  }

  void forEach(BiConsumer<byte[], byte[]> each) {
    for (int at = 0; at < size; at++) {
      each.accept(keys[at], values[at]);
    }
  }

  private int find(byte[] key) {
    for (int at = 0; at < size; at++) {
      if (Arrays.equals(keys[at], key)) {
        return at;
      }
    }
    return -1;
  }
}
