package weft.kernel.change;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import weft.kernel.operator.BucketStore;
import weft.kernel.operator.Warm;
import weft.kernel.spark.StateEntry;

/** The state of a bucket in a map, which counts how often it is written. */
public final class MapStore implements BucketStore {
  private final Map<ByteBuffer, byte[]> values = new HashMap<>();
  private final Warm warm = Warm.empty(false, Long.MAX_VALUE);
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
    return values.keySet().stream().map(ByteBuffer::array).toList();
  }

  @Override
  public Iterator<StateEntry> entries(byte[] prefix) {
    List<StateEntry> found = new ArrayList<>();
    for (byte[] key : keys()) {
      int shared = Math.min(prefix.length, key.length);
      if (Arrays.equals(key, 0, shared, prefix, 0, prefix.length)) {
        found.add(new StateEntry(Arrays.copyOfRange(key, shared, key.length), get(key)));
      }
    }
    return found.iterator();
  }

  @Override
  public Warm warm() {
    return warm;
  }
}
