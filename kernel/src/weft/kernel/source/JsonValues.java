package weft.kernel.source;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/** JSON tokens to Spark's internal values, by declared type. */
final class JsonValues {
  private JsonValues() {}

  /** The reader for a type; JSON's null is null for every type. */
  static JsonValue reader(DataType type) {
    JsonValue present = presentReader(type);
    return json -> json.currentToken() == JsonToken.VALUE_NULL ? null : present.read(json);
  }

  private static JsonValue presentReader(DataType type) {
    if (type instanceof StructType struct) {
      return object(struct);
    } else if (type instanceof ArrayType array) {
      return array(reader(array.elementType()), type);
    } else if (type instanceof MapType map) {
      return map(TextValues.reader(map.keyType()), reader(map.valueType()), type);
    } else if (type instanceof StringType) {
      return JsonValues::string;
    } else if (type instanceof BooleanType) {
      return JsonValues::bool;
    } else if (isIntegral(type)) {
      return json -> integral(json, type);
    } else if (type instanceof DoubleType || type instanceof FloatType) {
      return floating(type);
    } else if (type instanceof DecimalType decimal) {
      return numberOrText(type, json -> TextValues.decimal(json.getDecimalValue(), decimal));
    } else if (type instanceof TimestampType || type instanceof TimestampNTZType) {
      return numberOrText(type, json -> TextValues.millis(json.getDecimalValue()));
    }
    return text(type);
  }

  static boolean isIntegral(DataType type) {
    return type instanceof LongType
        || type instanceof IntegerType
        || type instanceof ShortType
        || type instanceof ByteType;
  }

  /** The reader for an object: unknown members are skipped, missing ones are null. */
  static JsonValue object(StructType type) {
    return object(new JsonMembers(type));
  }

  /** The reader for an object of these members. */
  static JsonValue object(JsonMembers members) {
    return json -> {
      if (json.currentToken() != JsonToken.START_OBJECT) {
        throw BadRecord.expected("an object", found(json));
      }
      return members.read(json);
    };
  }

  /** The reader for an array, by the reader of its elements. */
  static JsonValue array(JsonValue element, DataType type) {
    return json -> {
      require(json, JsonToken.START_ARRAY, type);
      List<Object> values = new ArrayList<>();
      while (json.nextToken() != JsonToken.END_ARRAY) {
        try {
          values.add(element.read(json));
        } catch (BadRecord bad) {
          throw bad.in("[" + values.size() + "]");
        }
      }
      return new GenericArrayData(values.toArray());
    };
  }

  /** The reader for a map, by the readers of its keys and values. */
  static JsonValue map(TextValue key, JsonValue value, DataType type) {
    return json -> {
      require(json, JsonToken.START_OBJECT, type);
      Map<Object, Object> entries = new LinkedHashMap<>();
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        json.nextToken();
        try {
          entries.put(key.read(name), value.read(json));
        } catch (BadRecord bad) {
          throw bad.in(name);
        }
      }
      return new ArrayBasedMapData(
          new GenericArrayData(entries.keySet().toArray()),
          new GenericArrayData(entries.values().toArray()));
    };
  }

  /** A string column takes every value: what is not a string is kept as its JSON text. */
  static Object string(JsonParser json) throws IOException {
    if (json.currentToken() == JsonToken.VALUE_STRING || json.currentToken().isScalarValue()) {
      return UTF8String.fromString(json.getText());
    }
    return UTF8String.fromString(text(json));
  }

  /** The JSON text of the value that a parser stands on, which is passed. */
  static String text(JsonParser json) throws IOException {
    StringWriter text = new StringWriter();
    try (JsonGenerator generator = JsonRecords.FACTORY.createGenerator(text)) {
      generator.copyCurrentStructure(json);
    }
    return text.toString();
  }

  private static Object bool(JsonParser json) throws IOException, BadRecord {
    return switch (json.currentToken()) {
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> throw BadRecord.expected("boolean", found(json));
    };
  }

  private static Object integral(JsonParser json, DataType type) throws IOException, BadRecord {
    if (json.currentToken() == JsonToken.VALUE_NUMBER_INT
        && json.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
      return TextValues.integral(json.getLongValue(), type);
    } else if (json.currentToken().isNumeric()) {
      return TextValues.integral(json.getDecimalValue(), type);
    }
    throw BadRecord.expected(type.catalogString(), found(json));
  }

  private static JsonValue floating(DataType type) {
    String name = type.catalogString();
    return numberOrText(
        type,
        json -> {
          double number = json.getDoubleValue();
          if (Double.isInfinite(number)) {
            throw BadRecord.outOfRange(name, json.getText());
          }
          return type instanceof DoubleType
              ? (Object) number
              : (Object) TextValues.single(number, name, json.getText());
        });
  }

  private static JsonValue numberOrText(DataType type, JsonValue number) {
    JsonValue text = text(type);
    return json -> json.currentToken().isNumeric() ? number.read(json) : text.read(json);
  }

  private static JsonValue text(DataType type) {
    TextValue reader = TextValues.reader(type);
    return json -> {
      require(json, JsonToken.VALUE_STRING, type);
      return reader.read(json.getText());
    };
  }

  private static void require(JsonParser json, JsonToken token, DataType type)
      throws IOException, BadRecord {
    if (json.currentToken() != token) {
      throw BadRecord.expected(type.catalogString(), found(json));
    }
  }

  static String found(JsonParser json) throws IOException {
    return switch (json.currentToken()) {
      case START_OBJECT -> "an object";
      case START_ARRAY -> "an array";
      case VALUE_STRING -> TextValues.quote(json.getText());
      default -> json.getText();
    };
  }
}
