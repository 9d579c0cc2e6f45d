package weft.kernel.product;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.window.state.BucketStore;

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
  private final Map<Integer, Map<UTF8String, byte[]>> chunks = new HashMap<>();
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
      chunks.put(0, in == null ? new HashMap<>() : read(in, size));
    }
  }

  int size() {
    return size;
  }

  byte[] get(UTF8String key) {
    return chunk(chunkOf(key)).get(key);
  }

  void put(UTF8String key, byte[] value) {
    int at = chunkOf(key);
    size += chunk(at).put(key, value) == null ? 1 : 0;
    changed.add(at);
    if (size > (FULL << bits)) {
      spread();
    }
  }

  void remove(UTF8String key) {
    int at = chunkOf(key);
    if (chunk(at).remove(key) != null) {
      size--;
      changed.add(at);
    }
  }

  void forEach(BiConsumer<UTF8String, byte[]> each) {
    for (int at = 0; at < 1 << bits; at++) {
      chunk(at).forEach(each);
    }
  }

  /** Writes what stands with the owner; chunks that have changed are kept by themselves. */
  void write(Blob out) {
    out.putInt(bits);
    out.putInt(size);
    if (bits == 0) {
      write(chunks.get(0), out);
      return;
    }
    for (int at : changed) {
      Map<UTF8String, byte[]> chunk = chunks.get(at);
      if (chunk.isEmpty()) {
        store.remove(nameOf(at));
      } else {
        Blob written = new Blob();
        written.putInt(chunk.size());
        write(chunk, written);
        store.put(nameOf(at), written.toArray());
      }
    }
    changed.clear();
  }

  private void spread() {
    Map<UTF8String, byte[]> all = new HashMap<>();
    forEach(all::put);
    bits++;
    chunks.clear();
    for (int at = 0; at < 1 << bits; at++) {
      chunks.put(at, new HashMap<>());
      changed.add(at);
    }
    all.forEach((key, value) -> chunks.get(chunkOf(key)).put(key, value));
  }

  private int chunkOf(UTF8String key) {
    int hash = key.hashCode();
    return (hash ^ hash >>> 16) & (1 << bits) - 1;
  }

  private Map<UTF8String, byte[]> chunk(int at) {
    return chunks.computeIfAbsent(at, this::load);
  }

  private Map<UTF8String, byte[]> load(int at) {
    byte[] written = store.get(nameOf(at));
    if (written == null) {
      return new HashMap<>();
    }
    Blob in = Blob.reading(written);
    return read(in, in.getInt());
  }

  private byte[] nameOf(int chunk) {
    return ByteBuffer.allocate(name.length + Integer.BYTES).put(name).putInt(chunk).array();
  }

  private static Map<UTF8String, byte[]> read(Blob in, int count) {
    Map<UTF8String, byte[]> found = new HashMap<>();
    for (int at = 0; at < count; at++) {
      found.put(UTF8String.fromBytes(in.getArray()), in.getArray());
    }
    return found;
  }

  private static void write(Map<UTF8String, byte[]> chunk, Blob out) {
    chunk.forEach(
        (key, value) -> {
          out.putArray(key.getBytes());
          out.putArray(value);
        });
  }
}
