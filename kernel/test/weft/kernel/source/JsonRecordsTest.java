package weft.kernel.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

/** A JSON object becomes the declared columns, or a reason in words. */
class JsonRecordsTest {
  private static final StructType SCHEMA =
      new StructType()
          .add("id", DataTypes.IntegerType)
          .add("name", DataTypes.StringType)
          .add("tags", DataTypes.createArrayType(DataTypes.LongType));

  private final JsonRecords parser = new JsonRecords(SCHEMA, null);

  private InternalRow parse(String json) {
    return parser.parse(json.getBytes(StandardCharsets.UTF_8), null);
  }

  private InternalRow columns(String json) {
    InternalRow row = parse(json);
    assertNull(row.getUTF8String(1));
    return row.getStruct(0, SCHEMA.size());
  }

  private String reason(String json) {
    return parse(json).getUTF8String(1).toString();
  }

  @Test
  void bytesThatAreNoTextAreFoundWhereverTheyStand() {
    String json = "{\"name\": \"0123456789abcdef\"}";
    for (int at = json.indexOf("0"); at < json.length() - 2; at++) {
      byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
      bytes[at] = (byte) 0xE9;
      String reason = parser.parse(bytes, null).getUTF8String(1).toString();
      assertEquals("the record is not valid UTF-8", reason);
    }
  }

  @Test
  void readsDeclaredMembersAndSkipsOthers() {
    InternalRow columns =
        columns("{\"x\": {\"id\": 9}, \"id\": 1, \"name\": \"é\", \"tags\": [1, 2]}");
    assertEquals(1, columns.getInt(0));
    assertEquals(UTF8String.fromString("é"), columns.getUTF8String(1));
    assertEquals(2L, columns.getArray(2).getLong(1));
  }

  @Test
  void aMissingMemberIsNull() {
    InternalRow columns = columns("{\"id\": null}");
    assertEquals(true, columns.isNullAt(0) && columns.isNullAt(1) && columns.isNullAt(2));
  }

  @Test
  void aNameOfAnotherCaseCountsWhereTheRightOneIsAbsent() {
    assertEquals(1, columns("{\"ID\": 1}").getInt(0));
    assertEquals(2, columns("{\"ID\": 1, \"id\": 2}").getInt(0));
    assertEquals(2, columns("{\"id\": 2, \"Id\": 1}").getInt(0));
  }

  @Test
  void aStringColumnTakesAnyValueAsItsText() {
    assertEquals(
        UTF8String.fromString("{\"a\":[1,true]}"),
        columns("{\"name\": {\"a\": [1, true]}}").getUTF8String(1));
  }

  @Test
  void saysWhereAndWhyItCannotBeRead() {
    assertEquals(
        "column 'tags[1]': expected bigint, found \"b\"", reason("{\"tags\": [1, \"b\"]}"));
    assertEquals("column 'id': 3000000000 is out of range for int", reason("{\"id\": 3000000000}"));
    assertEquals("not JSON: it goes on after the end of the object", reason("{} {}"));
    assertEquals("expected an object, found an array", reason("[1]"));
    assertEquals("the record is empty", reason(" \n"));
  }

  @Test
  void refusesBytesThatAreNoText() {
    InternalRow row = parser.parse(new byte[] {'{', (byte) 0xff, '}'}, null);
    assertEquals("the record is not valid UTF-8", row.getUTF8String(1).toString());
  }
}
