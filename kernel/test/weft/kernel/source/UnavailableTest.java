package weft.kernel.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;

/** A value that the log left out is null, and its column is among those that keep theirs. */
class UnavailableTest {
  private static final String TEXT = "__debezium_unavailable_value";
  private static final String BASE64 = "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==";

  private static void assertKept(DataType type, String json) {
    InternalRow row = ChangeEvents.of(type).columns(ChangeEvents.event(json));
    assertTrue(row.isNullAt(1), json);
    InternalRow change = row.getStruct(2, 6);
    assertFalse(change.isNullAt(5), json);
    assertEquals(1, change.getArray(5).numElements());
    assertEquals("v", change.getArray(5).getUTF8String(0).toString());
  }

  private static String quoted(String text) {
    return '"' + text + '"';
  }

  private static String bytes(String suffix) {
    return TEXT.chars().mapToObj(c -> c + suffix).collect(Collectors.joining(",", "[", "]"));
  }

  @Test
  void aPlaceholderIsKnownInEveryForm() {
    for (DataType type :
        new DataType[] {
          DataTypes.StringType,
          DataTypes.BinaryType,
          DataTypes.LongType,
          DataTypes.TimestampType,
          DataTypes.createDecimalType(10, 2),
          DataTypes.createArrayType(DataTypes.LongType),
          DataTypes.createMapType(DataTypes.StringType, DataTypes.StringType)
        }) {
      assertKept(type, quoted(TEXT));
    }
    assertKept(DataTypes.BinaryType, quoted(BASE64));
    assertKept(DataTypes.StringType, quoted(BASE64));
    assertKept(DataTypes.StringType, "[" + quoted(TEXT) + "]");
    assertKept(DataTypes.createArrayType(DataTypes.StringType), "[" + quoted(TEXT) + "]");
    assertKept(DataTypes.createArrayType(DataTypes.TimestampType), "[" + quoted(TEXT) + "]");
    assertKept(DataTypes.createArrayType(DataTypes.BinaryType), "[" + quoted(BASE64) + "]");
    assertKept(DataTypes.createArrayType(DataTypes.IntegerType), bytes(""));
    assertKept(DataTypes.createArrayType(DataTypes.DoubleType), bytes(".0"));
    assertKept(DataTypes.createArrayType(DataTypes.createDecimalType(9, 2)), bytes(""));
    assertKept(
        DataTypes.createMapType(DataTypes.StringType, DataTypes.StringType),
        "{" + quoted(TEXT) + ":" + quoted(TEXT) + "}");
    String hex = TEXT.chars().mapToObj(Integer::toHexString).collect(Collectors.joining());
    assertKept(DataTypes.StringType, quoted(hex));
    assertEquals(28, TEXT.getBytes(StandardCharsets.UTF_8).length);
  }

  @Test
  void whatOnlyLooksLikeItIsAValue() {
    ChangeEvents texts = ChangeEvents.of(DataTypes.createArrayType(DataTypes.StringType));
    InternalRow row =
        texts.columns(ChangeEvents.event("[" + quoted(TEXT) + "," + quoted("b") + "]"));
    assertEquals(TEXT, row.getArray(1).getUTF8String(0).toString());
    assertTrue(row.getStruct(2, 6).isNullAt(5));
    ChangeEvents numbers = ChangeEvents.of(DataTypes.createArrayType(DataTypes.LongType));
    row = numbers.columns(ChangeEvents.event(bytes("").replace("[95", "[94")));
    assertEquals(28, row.getArray(1).numElements());
    assertNotNull(numbers.reason(ChangeEvents.event("[1," + quoted(TEXT) + "]")));
  }

  @Test
  void aKeyIsNeverKept() {
    ChangeEvents events = ChangeEvents.of(DataTypes.StringType);
    String event = "{\"op\":\"u\",\"after\":{\"id\":" + quoted(TEXT) + "}}";
    assertEquals("column 'id': it is missing, and it is the key", events.reason(event));
  }
}
