package weft.kernel.window.bucket;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import java.util.Arrays;
import org.apache.spark.sql.types.StructType;
import weft.kernel.json.Json;
import weft.kernel.operator.BucketStore;
import weft.kernel.window.state.SlotLayout;
import weft.kernel.window.state.StateKey;
import weft.kernel.window.time.WindowSpec;

/**
 * What every part of one windowed pipeline knows: its window, its slots, its rows, its
 * buckets.
 */
public record WindowTask(
    WindowSpec spec,
    SlotLayout layout,
    int buckets,
    int inputs,
    StructType keyType,
    StructType paneType,
    StructType lateType)
    implements Serializable {

  /** Notes in the state what its readers must know, when it is not there or not the same. */
  void describe(BucketStore store) {
    ObjectNode node = Json.object().put("window", spec.toString()).put("keys", keyType.json());
    byte[] text = StateKey.bytes(node.put("layout", layout.id()).toString());
    if (!Arrays.equals(text, store.get(StateKey.description()))) {
      store.put(StateKey.description(), text);
    }
  }
}
