package weft.kernel.window.bucket;

import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.function.FlatMapGroupsWithStateFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.GroupState;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.window.state.BucketStore;

/**
 * Runs an engine on Spark's flatMapGroupsWithState, which any state store takes, Spark's in-memory
 * one too.
 *
 * <p>The state of a bucket is one value, read and written whole in every batch: for state that fits
 * the heap.
 */
public final class HeapState implements FlatMapGroupsWithStateFunction<Integer, Row, byte[], Row> {
  private static final long serialVersionUID = 1;

  private final Engine engine;

  public HeapState(Engine engine) {
    this.engine = engine;
  }

  @Override
  public Iterator<Row> call(Integer group, Iterator<Row> rows, GroupState<byte[]> state) {
    Map<UTF8String, byte[]> values = read(state.exists() ? state.get() : new byte[0]);
    BucketStore store =
        new BucketStore() {
          @Override
          public byte[] get(byte[] key) {
            return values.get(UTF8String.fromBytes(key));
          }

          @Override
          public void put(byte[] key, byte[] value) {
            values.put(UTF8String.fromBytes(key), value);
          }

          @Override
          public void remove(byte[] key) {
            values.remove(UTF8String.fromBytes(key));
          }

          @Override
          public List<byte[]> keys() {
            return values.keySet().stream().map(UTF8String::getBytes).toList();
          }
        };
    Iterator<Row> out = engine.run(group, rows, store);
    return new Iterator<>() {
      private boolean isKept;

      @Override
      public boolean hasNext() {
        boolean hasMore = out.hasNext();
        if (!hasMore && !isKept) {
          state.update(write(values));
          isKept = true;
        }
        return hasMore;
      }

      @Override
      public Row next() {
        return out.next();
      }
    };
  }

  public static Map<UTF8String, byte[]> read(byte[] written) {
    Map<UTF8String, byte[]> values = new HashMap<>();
    Blob in = Blob.reading(written);
    while (!in.atEnd()) {
      values.put(UTF8String.fromBytes(in.getArray()), in.getArray());
    }
    return values;
  }

  private static byte[] write(Map<UTF8String, byte[]> values) {
    Blob out = new Blob();
    values.forEach(
        (key, value) -> {
          out.putArray(key.getBytes());
          out.putArray(value);
        });
    return out.toArray();
  }
}
