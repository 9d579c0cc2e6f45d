package weft.kernel.sink;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * Where a slot writes: the topic, the settings of the client, and the name that is the slot's own,
 * as the id of its transactions and as the group whose offset is its position.
 */
record SlotAddress(String topic, String claim, String id, HashMap<String, String> client)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  static SlotAddress parse(JsonNode spec, String id) {
    HashMap<String, String> client = new HashMap<>();
    spec.required("client")
        .properties()
        .forEach(setting -> client.put(setting.getKey(), setting.getValue().asText()));
    return new SlotAddress(
        spec.required("topic").asText(), spec.required("claim").asText(), id, client);
  }

  /** The place for which the position is kept; any that exists would do. */
  TopicPartition place() {
    return new TopicPartition(topic, 0);
  }

  /** The settings with others under them, which they override. */
  Map<String, Object> settings(Map<String, Object> defaults) {
    Map<String, Object> all = new HashMap<>(defaults);
    all.putAll(client);
    return all;
  }
}
