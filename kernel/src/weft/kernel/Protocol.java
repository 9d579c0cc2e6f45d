package weft.kernel;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** What a reader must understand to read a stream table: as little as its schema allows. */
final class Protocol {
  private Protocol() {}

  /** Whether a schema has a type that readers of Delta's first protocol do not know. */
  static boolean needsFeatures(String schemaJson) {
    return schemaJson.contains("\"timestamp_ntz\"");
  }

  /** The {@code protocol} action for a schema. */
  static ObjectNode action(String schemaJson) {
    ObjectNode action = Json.object();
    ObjectNode protocol = action.putObject("protocol");
    if (needsFeatures(schemaJson)) {
      protocol.put("minReaderVersion", 3).put("minWriterVersion", 7);
      protocol.putArray("readerFeatures").add("timestampNtz");
      protocol.putArray("writerFeatures").add("timestampNtz").add("appendOnly").add("invariants");
    } else {
      protocol.put("minReaderVersion", 1).put("minWriterVersion", 2);
    }
    return action;
  }
}
