package weft.kernel.source;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The type of a value as Kafka Connect writes it beside the value.
 *
 * @param type the form in JSON, such as {@code int64}, or null when it is not said
 * @param name what the value means, such as {@code io.debezium.time.Date}, or null
 * @param field the name of the struct's member that has this type, or null
 * @param scale the scale of a decimal, or null
 * @param fields the members of a struct by name, none of another type
 * @param items the type of an array's elements or of a map's values, or null
 */
record ConnectType(
    String type,
    String name,
    String field,
    Integer scale,
    Map<String, ConnectType> fields,
    ConnectType items) {
  static final String DECIMAL = "org.apache.kafka.connect.data.Decimal";
  static final String VARIABLE_DECIMAL = "io.debezium.data.VariableScaleDecimal";
  static final String BITS = "io.debezium.data.Bits";

  /** The type that a parser stands on; null where it is no object. */
  static ConnectType read(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      json.skipChildren();
      return null;
    }
    String type = null;
    String name = null;
    String field = null;
    Integer scale = null;
    ConnectType items = null;
    Map<String, ConnectType> fields = Map.of();
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String member = json.currentName();
      json.nextToken();
      switch (member) {
        case "type" -> type = text(json);
        case "name" -> name = text(json);
        case "field" -> field = text(json);
        case "parameters" -> scale = scale(json);
        case "items", "values" -> items = read(json);
        case "fields" -> fields = readFields(json);
        default -> json.skipChildren();
      }
    }
    return new ConnectType(type, name, field, scale, fields, items);
  }

  /** The type of a struct's member, whatever the case of its name, or null. */
  ConnectType member(String wanted) {
    ConnectType exact = fields.get(wanted);
    if (exact != null) {
      return exact;
    }
    for (ConnectType other : fields.values()) {
      if (other.field.equalsIgnoreCase(wanted)) {
        return other;
      }
    }
    return null;
  }

  /** The type of the rows of a table, where this is the type of its events. */
  ConnectType row() {
    if (fields.containsKey("__op") || fields.containsKey("__deleted")) {
      return this;
    }
    for (String side : new String[] {"after", "before"}) {
      ConnectType row = fields.get(side);
      if (row != null && !row.fields.isEmpty()) {
        return row;
      }
    }
    return this;
  }

  boolean isNamed(String meaning) {
    return meaning.equals(name);
  }

  /** Whether values are numbers with a scale, which no JSON number holds. */
  boolean isDecimal() {
    return isNamed(DECIMAL) || isNamed(VARIABLE_DECIMAL);
  }

  private static Map<String, ConnectType> readFields(JsonParser json) throws IOException {
    Map<String, ConnectType> fields = new LinkedHashMap<>();
    if (json.currentToken() != JsonToken.START_ARRAY) {
      json.skipChildren();
      return fields;
    }
    while (json.nextToken() != JsonToken.END_ARRAY) {
      ConnectType field = read(json);
      if (field != null && field.field != null) {
        fields.put(field.field, field);
      }
    }
    return fields;
  }

  private static Integer scale(JsonParser json) throws IOException {
    Integer scale = null;
    if (json.currentToken() != JsonToken.START_OBJECT) {
      json.skipChildren();
      return null;
    }
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      boolean isScale = json.currentName().equals("scale");
      json.nextToken();
      if (isScale && json.currentToken().isScalarValue()) {
        scale = whole(json.getText());
      }
      json.skipChildren();
    }
    return scale;
  }

  private static Integer whole(String text) {
    try {
      return Integer.valueOf(text);
    } catch (NumberFormatException none) {
      return null;
    }
  }

  private static String text(JsonParser json) throws IOException {
    String text = json.currentToken() == JsonToken.VALUE_STRING ? json.getText() : null;
    json.skipChildren();
    return text;
  }
}
