package weft.kernel.window.state;

import java.util.Arrays;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;
import weft.kernel.bytes.Blob;

/**
 * Keys with their accumulators: an open hash table over flat arrays, which grows and is never
 * shrunk.
 *
 * <p>A key is the bytes of a row, a multiple of eight.
 */
public final class KeyTable {
  private static final int SEED = 42;
  private static final int START = 16;

  private final SlotLayout layout;
  private int[] index = new int[START * 2];
  private int[] hashes = new int[START];
  private int[] keyAt = new int[START];
  private int[] keyLength = new int[START];
  private byte[] keys = new byte[START * 16];
  private int keysEnd;
  private long[] longs;
  private Object[] objects;
  private int size;
  private long missing;
  private SlotReader copier;

  public KeyTable(SlotLayout layout) {
    this.layout = layout;
    this.longs = new long[START * layout.longs];
    this.objects = new Object[START * layout.objects];
  }

  public static int hash(Object base, long offset, int length) {
    return Murmur3_x86_32.hashUnsafeWords(base, offset, length, SEED);
  }

  public int size() {
    return size;
  }

  public long[] longs() {
    return longs;
  }

  public Object[] objects() {
    return objects;
  }

  public byte[] keys() {
    return keys;
  }

  public int hash(int entry) {
    return hashes[entry];
  }

  public int keyAt(int entry) {
    return keyAt[entry];
  }

  public int keyLength(int entry) {
    return keyLength[entry];
  }

  public byte[] key(int entry) {
    return Arrays.copyOfRange(keys, keyAt[entry], keyAt[entry] + keyLength[entry]);
  }

  /**
   * A bit for each aggregate that was declared after part of this table was written: it has no
   * value here.
   */
  public long missing() {
    return missing;
  }

  public void addMissing(long more) {
    missing |= more;
  }

  /** The entry of a key, or -1. */
  public int find(Object base, long offset, int length, int hash) {
    int mask = index.length - 1;
    for (int at = hash & mask; ; at = (at + 1) & mask) {
      int entry = index[at] - 1;
      if (entry < 0) {
        return -1;
      }
      if (isAt(entry, base, offset, length, hash)) {
        return entry;
      }
    }
  }

  /** The entry of a key, made when there is none. */
  public int insert(Object base, long offset, int length, int hash) {
    int mask = index.length - 1;
    int at = hash & mask;
    for (; index[at] != 0; at = (at + 1) & mask) {
      if (isAt(index[at] - 1, base, offset, length, hash)) {
        return index[at] - 1;
      }
    }
    int entry = size++;
    index[at] = entry + 1;
    if (entry == hashes.length) {
      grow(hash);
    }
    hashes[entry] = hash;
    keyAt[entry] = keysEnd;
    keyLength[entry] = length;
    if (keysEnd + length > keys.length) {
      keys = Arrays.copyOf(keys, Math.max(keys.length * 2, keysEnd + length));
    }
    Platform.copyMemory(base, offset, keys, (long) Platform.BYTE_ARRAY_OFFSET + keysEnd, length);
    keysEnd += length;
    return entry;
  }

  private boolean isAt(int entry, Object base, long offset, int length, int hash) {
    if (hashes[entry] != hash || keyLength[entry] != length) {
      return false;
    }
    long known = (long) Platform.BYTE_ARRAY_OFFSET + keyAt[entry];
    for (int word = 0; word < length; word += Long.BYTES) {
      if (Platform.getLong(base, offset + word) != Platform.getLong(keys, known + word)) {
        return false;
      }
    }
    return true;
  }

  /** Doubles the arrays and places every entry anew, the newest of which has this hash. */
  private void grow(int newest) {
    int capacity = hashes.length * 2;
    hashes = Arrays.copyOf(hashes, capacity);
    hashes[size - 1] = newest;
    keyAt = Arrays.copyOf(keyAt, capacity);
    keyLength = Arrays.copyOf(keyLength, capacity);
    longs = Arrays.copyOf(longs, capacity * layout.longs);
    objects = Arrays.copyOf(objects, capacity * layout.objects);
    index = new int[capacity * 2];
    int mask = index.length - 1;
    for (int entry = 0; entry < size; entry++) {
      int at = hashes[entry] & mask;
      while (index[at] != 0) {
        at = (at + 1) & mask;
      }
      index[at] = entry + 1;
    }
  }

  /** Writes one entry: hash, length of the key, key, slots. */
  void write(int entry, Blob out) {
    out.putInt(hashes[entry]);
    out.putInt(keyLength[entry]);
    out.putRaw(keys, (long) Platform.BYTE_ARRAY_OFFSET + keyAt[entry], keyLength[entry]);
    layout.write(longs, entry * layout.longs, objects, entry * layout.objects, out);
  }

  /** Takes one written entry in, and says which one it was. */
  int read(Blob in, SlotReader reader) {
    int hash = in.getInt();
    int length = in.getInt();
    int before = size;
    int entry = insert(in.array(), (long) Platform.BYTE_ARRAY_OFFSET + in.position(), length, hash);
    in.seek(in.position() + length);
    reader.read(in, longs, entry * layout.longs, objects, entry * layout.objects, entry == before);
    missing |= reader.missing();
    return entry;
  }

  /** Takes one entry of another table of the same layout in, which stays as it was. */
  public void take(KeyTable other, int from) {
    int before = size;
    int entry =
        insert(
            other.keys,
            (long) Platform.BYTE_ARRAY_OFFSET + other.keyAt[from],
            other.keyLength[from],
            other.hashes[from]);
    int l = entry * layout.longs;
    int fl = from * layout.longs;
    if (layout.objects > 0) {
      // Accumulators that are objects may be adopted when merged: what is shared is copied by
      // writing it.
      Blob copy = new Blob();
      layout.write(other.longs, fl, other.objects, from * layout.objects, copy);
      copy.seek(0);
      copier = copier == null ? new SlotReader(layout, layout) : copier;
      copier.read(copy, longs, l, objects, entry * layout.objects, entry == before);
    } else if (entry == before) {
      System.arraycopy(other.longs, fl, longs, l, layout.longs);
    } else {
      layout.merge(longs, l, objects, 0, other.longs, fl, other.objects, 0);
    }
  }
}
