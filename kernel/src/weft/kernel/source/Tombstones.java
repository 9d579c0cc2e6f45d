package weft.kernel.source;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.json.Json;
import weft.kernel.spark.Catalyst;

/**
 * Records without a value, of topics whose rows were unwrapped: each is the deletion of its key,
 * and becomes a row that says so.
 */
public final class Tombstones implements Serializable {
  private static final long serialVersionUID = 1;
  private static final String DELETED = "__deleted";
  private static final byte[] NOTHING = "null".getBytes(StandardCharsets.UTF_8);
  private static final byte[] NO_PAYLOAD = "\"payload\":null}".getBytes(StandardCharsets.UTF_8);
  private static final StructType RESULT =
      new StructType().add("value", DataTypes.BinaryType).add("bad", DataTypes.StringType);

  Tombstones() {}

  /** Whether a column has no value: none at all, or one that JSON converters write for it. */
  public static Column areIn(Column value) {
    return Catalyst.call(
        new Tombstones(), Tombstones.class, "isNone", DataTypes.BooleanType, value);
  }

  /** Called by generated code, once for each record. */
  public boolean isNone(byte[] value) {
    if (value == null || Arrays.equals(value, NOTHING)) {
      return true;
    }
    int end = value.length - NO_PAYLOAD.length;
    if (end < 0 || !Arrays.equals(value, end, value.length, NO_PAYLOAD, 0, NO_PAYLOAD.length)) {
      return false;
    }
    JsonNode event = json(value);
    return event != null && isDescribed(event) && event.get("payload").isNull();
  }

  /** A column of the row and of the reason why there is none, from one of keys in JSON. */
  public static Column deletions(Column key) {
    return Catalyst.call(new Tombstones(), Tombstones.class, "deletion", RESULT, key);
  }

  /** Called by generated code, once for each record without a value. */
  public InternalRow deletion(byte[] key) {
    JsonNode event = key == null ? null : json(key);
    if (event != null && rowOf(event) instanceof ObjectNode row) {
      row.put(DELETED, "true");
      return result(Json.write(event).getBytes(StandardCharsets.UTF_8), null);
    }
    return result(key, "it has no value, and its key names no columns");
  }

  private static InternalRow result(byte[] value, String bad) {
    return new GenericInternalRow(new Object[] {value, UTF8String.fromString(bad)});
  }

  private static JsonNode rowOf(JsonNode event) {
    return isDescribed(event) ? event.get("payload") : event;
  }

  /** What a text says, or null where it is not JSON. */
  private static JsonNode json(byte[] text) {
    try {
      return Json.parse(new String(text, StandardCharsets.UTF_8));
    } catch (IllegalArgumentException notJson) {
      return null;
    }
  }

  /** Whether something has its schema around it. */
  private static boolean isDescribed(JsonNode event) {
    return event.size() == 2 && event.path("schema").isObject() && event.has("payload");
  }
}
