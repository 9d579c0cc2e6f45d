package weft.kernel.window;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import java.util.Arrays;
import org.apache.spark.sql.types.StructType;

/**
 * What every part of one windowed pipeline knows: its window, its slots, its rows, its buckets; and
 * its whole text.
 */
record Task(
    String identity,
    Shape shape,
    Layout layout,
    int buckets,
    int inputs,
    StructType keyType,
    StructType paneType,
    StructType lateType)
    implements Serializable {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Notes in the state what its readers must know, when it is not there or not the same. */
  void describe(Store store) {
    ObjectNode node =
        JSON.createObjectNode().put("window", shape.toString()).put("keys", keyType.json());
    byte[] text = Place.bytes(node.put("layout", layout.id()).toString());
    if (!Arrays.equals(text, store.get(Place.description()))) {
      store.put(Place.description(), text);
    }
  }
}
