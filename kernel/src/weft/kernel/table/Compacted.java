package weft.kernel.table;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * One file that has the rows of several knots: those in (after, upto] that there are, in the order
 * of their knots, of each knot's own files, and of the rows in these.
 */
public record Compacted(long after, long upto, DataFile file) {

  static Compacted fromJson(JsonNode json, long modified) {
    return new Compacted(
        json.required("after").asLong(),
        json.required("upto").asLong(),
        DataFile.fromJson(json, modified));
  }

  ObjectNode toJson() {
    ObjectNode json = file.toJson();
    return json.put("after", after).put("upto", upto);
  }

  boolean contains(long knot) {
    return after < knot && knot <= upto;
  }

  /** Whether it has knots on both sides of one, that one counting to the first side. */
  boolean straddles(long knot) {
    return after < knot && knot < upto;
  }
}
