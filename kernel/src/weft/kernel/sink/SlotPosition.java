package weft.kernel.sink;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import weft.kernel.json.Json;

/**
 * How far a slot has come, as Kafka keeps it: an offset and a text beside it, which are made and
 * read in Python alone. Two that are equal are the same moment of the same worker, since each says
 * whose claim it is.
 */
record SlotPosition(long offset, String text) implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final long NONE = -1;

  static SlotPosition parse(JsonNode form) {
    return new SlotPosition(form.required("offset").asLong(), form.required("text").asText());
  }

  static SlotPosition of(OffsetAndMetadata kept) {
    return kept == null
        ? new SlotPosition(NONE, "")
        : new SlotPosition(kept.offset(), kept.metadata());
  }

  OffsetAndMetadata toOffset() {
    return new OffsetAndMetadata(offset, text);
  }

  ObjectNode toJson() {
    return Json.object().put("offset", offset).put("text", text);
  }
}
