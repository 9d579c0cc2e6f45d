package weft.kernel.source;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/**
 * Values as Kafka Connect writes them in JSON to Spark's internal values: by declared type, and by
 * what the event's schema says of them where it has one. What Connect writes as everyone does is
 * read by {@link JsonValues}.
 */
final class ConnectValues {
  private final Epoch times;

  /**
   * @param times what a number in a timestamp column counts, where no schema says it
   */
  ConnectValues(Epoch times) {
    this.times = times;
  }

  /** The reader for a column, which gives {@link Unavailable#KEPT} where its value is left out. */
  private JsonValue column(DataType type, ConnectType described) {
    if (type instanceof ArrayType array && !(array.elementType() instanceof StringType)) {
      ConnectType items = described == null ? null : described.items();
      JsonValue element = Unavailable.element(reader(array.elementType(), items));
      JsonValue present = orText(JsonValues.array(element, type), type);
      return Unavailable.column(
          json -> json.currentToken() == JsonToken.VALUE_NULL ? null : present.read(json));
    }
    return Unavailable.column(reader(type, described));
  }

  /** The columns of these names, each with the reader for its type. */
  JsonMembers columns(String[] names, StructType table, ConnectType described) {
    JsonValue[] readers = new JsonValue[names.length];
    for (int i = 0; i < names.length; i++) {
      ConnectType member = described == null ? null : described.member(names[i]);
      readers[i] = column(table.apply(names[i]).dataType(), member);
    }
    return new JsonMembers(names, readers);
  }

  /** The reader for a declared type; {@code described} is the value's own type or null. */
  JsonValue reader(DataType type, ConnectType described) {
    JsonValue present = presentReader(type, described);
    return json -> json.currentToken() == JsonToken.VALUE_NULL ? null : present.read(json);
  }

  private JsonValue presentReader(DataType type, ConnectType described) {
    if (type instanceof StructType || type instanceof ArrayType || type instanceof MapType) {
      return orText(nested(type, described), type);
    } else if (type instanceof StringType) {
      return ConnectTexts.reader(described);
    } else if (type instanceof BooleanType) {
      return bool(JsonValues.reader(type));
    } else if (JsonValues.isIntegral(type) && isBits(described)) {
      return json -> bits(json, type);
    } else if (JsonValues.isIntegral(type) || type instanceof DecimalType) {
      return decimal(type, described);
    } else if (type instanceof DoubleType || type instanceof FloatType) {
      return floating(type, described);
    } else if (type instanceof TimestampType || type instanceof TimestampNTZType) {
      return timestamp(type, described);
    } else if (type instanceof DateType) {
      return date(type, described);
    }
    return JsonValues.reader(type);
  }

  private JsonValue nested(DataType type, ConnectType described) {
    ConnectType items = described == null ? null : described.items();
    if (type instanceof ArrayType array) {
      return JsonValues.array(reader(array.elementType(), items), type);
    } else if (type instanceof MapType map) {
      TextValue key = TextValues.reader(map.keyType());
      return JsonValues.map(key, reader(map.valueType(), items), type);
    }
    StructField[] fields = ((StructType) type).fields();
    JsonValue[] readers = new JsonValue[fields.length];
    for (int i = 0; i < fields.length; i++) {
      ConnectType member = described == null ? null : described.member(fields[i].name());
      readers[i] = reader(fields[i].dataType(), member);
    }
    return JsonValues.object(new JsonMembers(((StructType) type).fieldNames(), readers));
  }

  /** Databases' JSON columns come as texts: what is declared in them is read from those. */
  private static JsonValue orText(JsonValue nested, DataType type) {
    JsonValue inside = JsonValues.reader(type);
    return json -> {
      if (json.currentToken() != JsonToken.VALUE_STRING) {
        return nested.read(json);
      }
      String text = json.getText();
      try (JsonParser parser = JsonRecords.FACTORY.createParser(text)) {
        if (parser.nextToken() == null) {
          throw BadRecord.expected(type.catalogString(), TextValues.quote(text));
        }
        return inside.read(parser);
      } catch (JsonProcessingException none) {
        throw BadRecord.expected(type.catalogString() + " as JSON", TextValues.quote(text));
      }
    };
  }

  /** A boolean, or MySQL's, which are the numbers 0 and 1. */
  private static JsonValue bool(JsonValue plain) {
    return json -> {
      if (json.currentToken() == JsonToken.VALUE_NUMBER_INT) {
        String digit = json.getText();
        if (digit.equals("0") || digit.equals("1")) {
          return digit.equals("1");
        }
      }
      return plain.read(json);
    };
  }

  private static boolean isBits(ConnectType described) {
    return described != null && described.isNamed(ConnectType.BITS);
  }

  /** The number that bits make, of which the lowest come first. */
  private static Object bits(JsonParser json, DataType type) throws IOException, BadRecord {
    if (json.currentToken() != JsonToken.VALUE_STRING) {
      throw BadRecord.expected(type.catalogString(), JsonValues.found(json));
    }
    byte[] bytes = TextValues.binary(json.getText());
    for (int i = 0, j = bytes.length - 1; i < j; i++, j--) {
      byte low = bytes[i];
      bytes[i] = bytes[j];
      bytes[j] = low;
    }
    return TextValues.integral(new BigDecimal(new BigInteger(1, bytes)), type);
  }

  private static JsonValue decimal(DataType type, ConnectType described) {
    JsonValue plain = JsonValues.reader(type);
    return json -> {
      if (json.currentToken().isNumeric()) {
        return plain.read(json);
      }
      BigDecimal number = ConnectDecimals.read(json, described, type);
      return type instanceof DecimalType decimal
          ? TextValues.decimal(number, decimal)
          : TextValues.integral(number, type);
    };
  }

  private static JsonValue floating(DataType type, ConnectType described) {
    JsonValue plain = JsonValues.reader(type);
    String name = type.catalogString();
    boolean isDecimal = described != null && described.isDecimal();
    return json -> {
      boolean isText = json.currentToken() == JsonToken.VALUE_STRING;
      if (json.currentToken() != JsonToken.START_OBJECT && !(isText && isDecimal)) {
        return plain.read(json);
      }
      double number = ConnectDecimals.read(json, described, type).doubleValue();
      return type instanceof DoubleType
          ? (Object) number
          : (Object) TextValues.single(number, name, Double.toString(number));
    };
  }

  private JsonValue timestamp(DataType type, ConnectType described) {
    JsonValue plain = JsonValues.reader(type);
    Epoch unit = Epoch.described(described);
    Epoch epoch = unit == null ? times : unit;
    return json -> json.currentToken().isNumeric() ? epoch.micros(json) : plain.read(json);
  }

  private static JsonValue date(DataType type, ConnectType described) {
    JsonValue plain = JsonValues.reader(type);
    TextValue text = TextValues.reader(type);
    Epoch unit = Epoch.described(described);
    Epoch epoch = unit == null ? Epoch.DAYS : unit;
    return json -> {
      if (json.currentToken().isNumeric()) {
        return epoch.days(json);
      } else if (json.currentToken() == JsonToken.VALUE_STRING && json.getText().endsWith("Z")) {
        return text.read(json.getText().replaceFirst("Z$", "")); // io.debezium.time.IsoDate
      }
      return plain.read(json);
    };
  }
}
