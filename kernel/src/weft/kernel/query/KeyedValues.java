package weft.kernel.query;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import weft.kernel.bytes.Blob;
import weft.kernel.bytes.Packed;
import weft.kernel.bytes.Slice;
import weft.kernel.change.Post;
import weft.kernel.operator.BucketStore;

/**
 * Any number of values by key, of which a change reads and writes a few.
 *
 * <p>A few entries stand with their owner. When there are more they are spread over chunks by the
 * hash of their keys, twice as many whenever they have doubled, so that one more costs the same
 * however many there are.
 */
final class KeyedValues {
  private static final int FULL = 32;

  private final BucketStore store;
  private final byte[] name;
  private final Map<Integer, Chunk> chunks = new HashMap<>();
  private final Set<Integer> changed = new TreeSet<>();
  private int bits;
  private int size;

  /**
   * @param name under which their chunks are kept
   * @param in what {@link #write} wrote, or null for no entries yet
   */
  KeyedValues(BucketStore store, byte[] name, Blob in) {
    this.store = store;
    this.name = name;
    if (in != null) {
      bits = in.getInt();
      size = in.getInt();
    }
    if (bits == 0) {
      chunks.put(0, in == null ? new Chunk() : Chunk.read(in, size));
    }
  }

  int size() {
    return size;
  }

  Slice get(byte[] key) {
    return chunk(chunkOf(Slice.of(key))).get(key);
  }

  void put(byte[] key, byte[] value) {
    int at = chunkOf(Slice.of(key));
    size += chunk(at).put(Slice.of(key), Slice.of(value)) ? 1 : 0;
    changed.add(at);
    if (size > (FULL << bits)) {
      spread();
    }
  }

  void remove(byte[] key) {
    int at = chunkOf(Slice.of(key));
    if (chunk(at).remove(key)) {
      size--;
      changed.add(at);
    }
  }

  void forEach(BiConsumer<Slice, Slice> each) {
    for (int at = 0; at < 1 << bits; at++) {
      chunk(at).forEach(each);
    }
  }

  /** Writes what stands with the owner; chunks that have changed are kept by themselves. */
  void write(Blob out) {
    out.putInt(bits);
    out.putInt(size);
    if (bits == 0) {
      chunks.get(0).write(out);
      return;
    }
    for (int at : changed) {
      Chunk chunk = chunks.get(at);
      if (chunk.size() == 0) {
        store.remove(nameOf(at));
      } else {
        Blob written = new Blob();
        written.putInt(chunk.size());
        chunk.write(written);
        store.put(nameOf(at), Packed.pack(written));
      }
    }
    changed.clear();
  }

  private void spread() {
    Chunk[] before = new Chunk[1 << bits];
    for (int at = 0; at < before.length; at++) {
      before[at] = chunk(at);
    }
    bits++;
    chunks.clear();
    for (int at = 0; at < 1 << bits; at++) {
      chunks.put(at, new Chunk());
      changed.add(at);
    }
    for (Chunk chunk : before) {
      chunk.forEach((key, value) -> chunks.get(chunkOf(key)).put(key, value));
    }
  }

  private int chunkOf(Slice key) {
    return bits == 0 ? 0 : Post.hash(bits, key) & (1 << bits) - 1;
  }

  private Chunk chunk(int at) {
    return chunks.computeIfAbsent(at, this::load);
  }

  private Chunk load(int at) {
    byte[] written = store.get(nameOf(at));
    if (written == null) {
      return new Chunk();
    }
    Blob in = Packed.unpack(written);
    return Chunk.read(in, in.getInt());
  }

  private byte[] nameOf(int chunk) {
    return ByteBuffer.allocate(name.length + Integer.BYTES).put(name).putInt(chunk).array();
  }
}
