package weft.kernel.change;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import weft.kernel.operator.BucketStore;

/** The state of a bucket in a map, which counts how often it is written. */
public final class MapStore implements BucketStore {
  private final Map<ByteBuffer, byte[]> values = new HashMap<>();
  public int written;

  @Override
  public byte[] get(byte[] key) {
    byte[] value = values.get(ByteBuffer.wrap(key));
    return value == null ? null : value.clone();
  }

  @Override
  public void put(byte[] key, byte[] value) {
    written++;
    values.put(ByteBuffer.wrap(key.clone()), value.clone());
  }

  @Override
  public void remove(byte[] key) {
    values.remove(ByteBuffer.wrap(key));
  }

  public List<byte[]> keys() {
    return keys(new byte[0]);
  }

  @Override
  public List<byte[]> keys(byte[] prefix) {
    List<byte[]> found = new ArrayList<>();
    for (ByteBuffer key : values.keySet()) {
      byte[] begin = Arrays.copyOf(key.array(), Math.min(prefix.length, key.capacity()));
      if (Arrays.equals(begin, prefix)) {
        found.add(key.array());
      }
    }
    return found;
  }
}
