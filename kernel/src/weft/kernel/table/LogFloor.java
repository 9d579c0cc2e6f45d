package weft.kernel.table;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import weft.kernel.json.Json;

/**
 * Where a table's log begins: versions up to this one are gone, with knots whose rows are expired.
 *
 * @param expired the last knot whose rows were expired by then
 * @param metaData Delta's description of the table as of then
 */
record LogFloor(long version, long expired, ObjectNode metaData) {
  /** A log that is whole. */
  static final LogFloor NONE = new LogFloor(Commit.NONE, 0, null);

  static LogFloor parse(String text) {
    JsonNode json = Json.parse(text);
    return new LogFloor(
        json.required("version").asLong(),
        json.required("expired").asLong(),
        (ObjectNode) json.required("metadata"));
  }
}
