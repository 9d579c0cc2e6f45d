package weft.kernel.source;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.DecimalNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Map;
import weft.kernel.json.Json;

/**
 * MongoDB's documents as plain JSON: values that it writes as objects with a type, such as {@code
 * {"$numberLong": "1004"}}, become numbers and texts.
 */
final class ExtendedJson {
  private ExtendedJson() {}

  /** A parser that stands on the document in a text. */
  static JsonParser open(String text) throws IOException, BadRecord {
    JsonNode document;
    try {
      document = Json.parse(text);
    } catch (IllegalArgumentException none) {
      throw BadRecord.expected("a document", TextValues.quote(text));
    }
    if (!document.isObject()) {
      throw BadRecord.expected("a document", TextValues.quote(text));
    }
    JsonParser json = plain(document).traverse();
    json.nextToken();
    return json;
  }

  private static JsonNode plain(JsonNode node) {
    if (node instanceof ArrayNode array) {
      for (int i = 0; i < array.size(); i++) {
        array.set(i, plain(array.get(i)));
      }
    } else if (node instanceof ObjectNode object) {
      for (Map.Entry<String, JsonNode> member : object.properties()) {
        member.setValue(plain(member.getValue()));
      }
      return object.isEmpty() ? object : typed(object);
    }
    return node;
  }

  /** What an object stands for, whose members are plain already. */
  private static JsonNode typed(ObjectNode object) {
    String name = object.fieldNames().next();
    JsonNode value = object.get(name);
    return switch (name) {
      case "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal" -> number(value);
      case "$oid", "$symbol", "$code", "$uuid" -> value;
      case "$date" -> value.canConvertToLong() ? moment(value.asLong()) : value;
      case "$binary" -> value.has("base64") ? value.get("base64") : value;
      default -> object;
    };
  }

  private static JsonNode number(JsonNode value) {
    try {
      return DecimalNode.valueOf(new BigDecimal(value.asText()));
    } catch (NumberFormatException none) { // NaN and the infinities
      return value;
    }
  }

  private static JsonNode moment(long millis) {
    return TextNode.valueOf(Instant.ofEpochMilli(millis).toString());
  }
}
