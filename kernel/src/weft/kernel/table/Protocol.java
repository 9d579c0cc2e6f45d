package weft.kernel.table;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import weft.kernel.json.Json;

/**
 * What a tool must understand to read a stream table: as little as its schema allows; and to write
 * it: a feature that only Weft has. A table whose files another tool has compacted or rewritten has
 * lost the knots they came with.
 */
final class Protocol {
  private static final String OURS = "weft";
  private static final String NTZ = "timestampNtz";

  private Protocol() {}

  /** Whether a schema has a type that readers of Delta's first protocol do not know. */
  static boolean needsFeatures(String schemaJson) {
    return schemaJson.contains("\"timestamp_ntz\"");
  }

  /** The {@code protocol} action for a schema. */
  static ObjectNode action(String schemaJson) {
    ObjectNode action = Json.object();
    ObjectNode protocol = action.putObject("protocol");
    boolean hasNtz = needsFeatures(schemaJson);
    protocol.put("minReaderVersion", hasNtz ? 3 : 1).put("minWriterVersion", 7);
    if (hasNtz) {
      protocol.putArray("readerFeatures").add(NTZ);
    }
    ArrayNode writers =
        protocol.putArray("writerFeatures").add("appendOnly").add("invariants").add(OURS);
    if (hasNtz) {
      writers.add(NTZ);
    }
    return action;
  }
}
