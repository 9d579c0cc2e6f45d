package weft.kernel.window.state;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;

/** The number of panes that keys of a window have had, as bytes. */
public final class Revisions {
  private Revisions() {}

  public static byte[] write(Map<UTF8String, Integer> counts) {
    Blob out = new Blob();
    out.putInt(counts.size());
    counts.forEach(
        (key, count) -> {
          out.putArray(key.getBytes());
          out.putInt(count);
        });
    return out.toArray();
  }

  public static Map<UTF8String, Integer> read(byte[] written) {
    Blob in = Blob.reading(written);
    Map<UTF8String, Integer> counts = new HashMap<>();
    for (int left = in.getInt(); left > 0; left--) {
      counts.put(UTF8String.fromBytes(in.getArray()), in.getInt());
    }
    return counts;
  }
}
