package weft.kernel.source;

import com.fasterxml.jackson.core.JsonToken;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Set;
import java.util.UUID;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * What Debezium writes for a large value that did not change and that the database's log therefore
 * leaves out: a placeholder, in a form that the column's type can hold.
 *
 * <p>It is the text of the placeholder; its base64 or hex for bytes; an array of one such text, or
 * of the number of each of its bytes; a map of it to itself.
 */
final class Unavailable {
  /** Stands in a row for a value that is kept as it was. */
  static final Object KEPT = new Object();

  private static final String PLACEHOLDER = "__debezium_unavailable_value";
  private static final byte[] BYTES = PLACEHOLDER.getBytes(StandardCharsets.UTF_8);
  private static final String BASE64 = Base64.getEncoder().encodeToString(BYTES);
  private static final Set<String> FORMS =
      Set.of(
          PLACEHOLDER,
          BASE64,
          HexFormat.of().formatHex(BYTES),
          UUID.nameUUIDFromBytes(BYTES).toString(),
          "[\"" + PLACEHOLDER + "\"]",
          "[\"" + BASE64 + "\"]",
          "{\"" + PLACEHOLDER + "\":\"" + PLACEHOLDER + "\"}");
  private static final int LONGEST = FORMS.stream().mapToInt(String::length).max().orElseThrow();

  private Unavailable() {}

  /** The reader for a column, which gives {@link #KEPT} for a placeholder. */
  static JsonValue column(JsonValue reader) {
    return json -> {
      JsonToken token = json.currentToken();
      if (token == JsonToken.VALUE_STRING) {
        return isForm(json.getText()) ? KEPT : reader.read(json);
      }
      Object value = reader.read(json);
      return token.isStructStart() && stands(value) ? KEPT : value;
    };
  }

  /**
   * The reader for the elements of an array that is a column, where they are no texts: the text of
   * the placeholder is an element of it alone.
   */
  static JsonValue element(JsonValue reader) {
    return json ->
        json.currentToken() == JsonToken.VALUE_STRING && json.getText().equals(PLACEHOLDER)
            ? KEPT
            : reader.read(json);
  }

  private static boolean isForm(String text) {
    int length = text.length();
    return length >= PLACEHOLDER.length() && length <= LONGEST && FORMS.contains(text);
  }

  /** Whether a nested value, or its text, is made of the placeholder. */
  private static boolean stands(Object value) throws BadRecord {
    if (value instanceof UTF8String text) {
      return text.numBytes() <= LONGEST && isForm(text.toString());
    } else if (value instanceof GenericArrayData array) {
      return stands(array.array());
    } else if (value instanceof ArrayBasedMapData map && map.numElements() == 1) {
      return isText(map.keyArray().array()[0]) && isText(map.valueArray().array()[0]);
    }
    return false;
  }

  private static boolean stands(Object[] elements) throws BadRecord {
    if (elements.length == 1) {
      return elements[0] == KEPT
          || isText(elements[0])
          || (elements[0] instanceof byte[] bytes && Arrays.equals(bytes, BYTES));
    }
    boolean counts = elements.length == BYTES.length;
    for (int i = 0; i < elements.length; i++) {
      if (elements[i] == KEPT) {
        throw new BadRecord("the placeholder of a value that is unavailable is among others")
            .in("[" + i + "]");
      }
      counts = counts && isNumber(elements[i], BYTES[i]);
    }
    return counts;
  }

  private static boolean isText(Object value) {
    return value instanceof UTF8String text
        && text.numBytes() <= LONGEST
        && isForm(text.toString());
  }

  private static boolean isNumber(Object value, byte wanted) {
    if (value instanceof Decimal decimal) {
      BigDecimal number = decimal.toJavaBigDecimal();
      return number.compareTo(BigDecimal.valueOf(wanted)) == 0
          || number.unscaledValue().equals(BigInteger.valueOf(wanted));
    }
    return value instanceof Number number && number.doubleValue() == wanted;
  }
}
