package weft.kernel.source;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;

/**
 * Decimals in the forms in which Debezium writes them: a number, its text, the base64 of its digits
 * with the scale in the schema, or an object of both.
 */
final class ConnectDecimals {
  private static final Pattern PLAIN = Pattern.compile("[+-]?[0-9]+(\\.[0-9]*)?");

  /** What databases say in place of digits; the letters could be those of base64. */
  private static final Set<String> NO_DIGITS = Set.of("NaN", "Infinity");

  /** More digits than any database has behind a point; those of 10^9 would fill the heap. */
  private static final int MOST_DIGITS = 100_000;

  private ConnectDecimals() {}

  /**
   * The decimal that a parser stands on.
   *
   * <p>Where no schema says what a text is, one of digits is the number that it says, and any other
   * is taken for base64 if the column is a decimal, whose scale it then has.
   *
   * @param type the column's
   */
  static BigDecimal read(JsonParser json, ConnectType described, DataType type)
      throws IOException, BadRecord {
    String name = type.catalogString();
    if (json.currentToken().isNumeric()) {
      return json.getDecimalValue();
    } else if (json.currentToken() == JsonToken.START_OBJECT) {
      return object(json, name);
    } else if (json.currentToken() != JsonToken.VALUE_STRING) {
      throw BadRecord.expected(name, JsonValues.found(json));
    }
    String text = json.getText();
    if (described != null && described.isNamed(ConnectType.DECIMAL)) {
      return unpacked(text, described.scale() == null ? 0 : described.scale(), name);
    }
    boolean mayBePacked = described == null || "bytes".equals(described.type());
    if (type instanceof DecimalType decimal && mayBePacked && isPacked(text)) {
      return unpacked(text, decimal.scale(), name);
    }
    return TextValues.number(text, name);
  }

  private static BigDecimal object(JsonParser json, String type) throws IOException, BadRecord {
    Integer scale = null;
    String value = null;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      JsonToken token = json.nextToken();
      if (name.equals("scale") && token == JsonToken.VALUE_NUMBER_INT) {
        scale = json.getNumberType() == JsonParser.NumberType.INT ? json.getIntValue() : null;
      } else if (name.equals("value") && token == JsonToken.VALUE_STRING) {
        value = json.getText();
      }
      json.skipChildren();
    }
    if (scale == null || value == null) {
      throw BadRecord.expected(type, "an object without scale and value");
    }
    return unpacked(value, scale, type);
  }

  private static boolean isPacked(String text) {
    if (PLAIN.matcher(text).matches() || NO_DIGITS.contains(text)) {
      return false;
    }
    try {
      return TextValues.binary(text).length > 0;
    } catch (BadRecord none) {
      return false;
    }
  }

  private static BigDecimal unpacked(String text, int scale, String type) throws BadRecord {
    byte[] digits = TextValues.binary(text);
    if (digits.length == 0) {
      throw BadRecord.expected(type + " (base64)", TextValues.quote(text));
    }
    if (Math.abs((long) scale) > MOST_DIGITS) {
      throw BadRecord.outOfRange("the scale of a decimal", Integer.toString(scale));
    }
    return new BigDecimal(new BigInteger(digits), scale);
  }
}
