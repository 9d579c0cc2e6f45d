package weft.kernel.avro;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import org.apache.avro.Schema;
import weft.kernel.json.Json;

/** A schema of Avro as Kafka Connect writes it beside a value in JSON. */
final class ConnectSchema {
  private static final int DEEPEST = 32;
  private static final String CONNECT = "org.apache.kafka.connect.data.";

  /** What a number or bytes mean, by Avro's own names, where Connect has given none. */
  private static final Map<String, String> MEANINGS =
      Map.of(
          "decimal", CONNECT + "Decimal",
          "date", CONNECT + "Date",
          "time-millis", CONNECT + "Time",
          "time-micros", "io.debezium.time.MicroTime",
          "timestamp-millis", CONNECT + "Timestamp",
          "timestamp-micros", "io.debezium.time.MicroTimestamp",
          "timestamp-nanos", "io.debezium.time.NanoTimestamp");

  private ConnectSchema() {}

  static ObjectNode of(Schema schema) {
    return of(schema, 0);
  }

  private static ObjectNode of(Schema schema, int depth) {
    if (depth > DEEPEST) {
      throw new IllegalArgumentException("it is nested more than " + DEEPEST + " deep");
    }
    ObjectNode made = Json.object();
    switch (schema.getType()) {
      case UNION -> {
        made = of(only(schema), depth + 1);
        made.put("optional", schema.isNullable());
        return made;
      }
      case RECORD -> {
        made.put("type", "struct");
        ArrayNode fields = made.putArray("fields");
        for (Schema.Field field : schema.getFields()) {
          fields.add(of(field.schema(), depth + 1).put("field", field.name()));
        }
      }
      case ARRAY -> {
        made.put("type", "array");
        made.set("items", of(schema.getElementType(), depth + 1));
      }
      case MAP -> {
        made.put("type", "map");
        made.set("keys", Json.object().put("type", "string"));
        made.set("values", of(schema.getValueType(), depth + 1));
      }
      case INT -> made.put("type", said(schema, "connect.type", "int32"));
      case LONG -> made.put("type", "int64");
      case FLOAT -> made.put("type", "float");
      case DOUBLE -> made.put("type", "double");
      case BOOLEAN -> made.put("type", "boolean");
      case BYTES, FIXED -> made.put("type", "bytes");
      case STRING, ENUM, NULL -> made.put("type", "string");
      default -> throw new IllegalArgumentException("it has a " + schema.getType());
    }
    return named(made, schema);
  }

  /** The one type of a union besides null; of several, the text of the value is taken. */
  static Schema only(Schema union) {
    var others = union.getTypes().stream().filter(one -> one.getType() != Schema.Type.NULL);
    var found = others.toList();
    return found.size() == 1 ? found.get(0) : Schema.create(Schema.Type.STRING);
  }

  private static ObjectNode named(ObjectNode made, Schema schema) {
    Object logical = schema.getObjectProp("logicalType");
    String meaning = logical == null ? null : MEANINGS.get(logical.toString());
    String name = said(schema, "connect.name", meaning);
    if (name != null) {
      made.put("name", name);
    }
    ObjectNode parameters = Json.object();
    if ("decimal".equals(logical)) {
      parameters.put("scale", said(schema, "scale", "0"));
      parameters.put("connect.decimal.precision", said(schema, "precision", "38"));
    }
    if (schema.getObjectProp("connect.parameters") instanceof Map<?, ?> given) {
      given.forEach((key, value) -> parameters.put(String.valueOf(key), String.valueOf(value)));
    }
    if (!parameters.isEmpty()) {
      made.set("parameters", parameters);
    }
    return made;
  }

  private static String said(Schema schema, String property, String otherwise) {
    Object found = schema.getObjectProp(property);
    return found == null ? otherwise : found.toString();
  }
}
