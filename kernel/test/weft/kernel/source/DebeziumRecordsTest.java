package weft.kernel.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

/** A change event becomes a row with its change, or a reason in words. */
class DebeziumRecordsTest {
  private static final StructType TABLE =
      new StructType()
          .add("id", DataTypes.IntegerType)
          .add("region", DataTypes.StringType)
          .add("total", DataTypes.DoubleType);

  private final ChangeEvents events = new ChangeEvents(TABLE, Epoch.AUTO, "id", "region");

  private static String event(String op, String before, String after) {
    return "{\"before\":%s,\"after\":%s,\"source\":{\"lsn\":255},\"op\":\"%s\",\"ts_ms\":5}"
        .formatted(before, after, op);
  }

  private String op(String event) {
    return events.change(event).getString(0);
  }

  @Test
  void aRowIsWhatItIsAfterTheChange() {
    String row = "{\"id\":7,\"region\":\"eu\",\"total\":1.5,\"unknown\":{\"id\":[9]}}";
    for (String op : List.of("c", "u", "r")) {
      InternalRow columns = events.columns(event(op, "{\"id\":6}", row));
      assertEquals(7, columns.getInt(0));
      assertEquals("eu", columns.getString(1));
      assertEquals(1.5, columns.getDouble(2));
      assertEquals(op, columns.getStruct(3, 6).getString(0));
    }
  }

  @Test
  void aDeletedRowIsItsKeyAlone() {
    String row = "{\"id\":7,\"region\":\"eu\",\"total\":\"made up\"}";
    InternalRow columns = events.columns(event("d", row, "null"));
    assertEquals(7, columns.getInt(0));
    assertEquals("eu", columns.getString(1));
    assertTrue(columns.isNullAt(2));
    assertEquals("d", columns.getStruct(3, 6).getString(0));
  }

  @Test
  void aTruncatedTableIsARowWithoutValues() {
    InternalRow columns = events.columns("{\"source\":{\"lsn\":255},\"op\":\"t\"}");
    assertTrue(columns.isNullAt(0) && columns.isNullAt(1) && columns.isNullAt(2));
    assertEquals("t", columns.getStruct(3, 6).getString(0));
  }

  @Test
  void everyRowHasItsKey() {
    assertEquals(
        "column 'region': it is missing, and it is the key",
        events.reason(event("u", "null", "{\"id\":7,\"region\":null}")));
    assertEquals(
        "column 'id': it is missing, and it is the key",
        events.reason(event("d", "{\"region\":\"eu\"}", "null")));
    assertEquals("its op is d, and it has no before", events.reason(event("d", "null", "null")));
    assertEquals("its op is c, and it has no after", events.reason("{\"op\":\"c\",\"source\":{}}"));
  }

  @Test
  void aWrapperIsTakenOffInAnyOrder() {
    String event = event("c", "null", "{\"id\":7,\"region\":\"eu\"}");
    assertEquals("c", op("{\"schema\":{},\"payload\":" + event + "}"));
    assertEquals("c", op("{\"payload\":" + event + ",\"schema\":{}}"));
    assertEquals("c", op("{\"payload\":" + event + "}"));
    assertEquals("c", op("{\"schema\":null,\"payload\":" + event + "}"));
    assertEquals(
        "c", op(" {\n \"schema\" : {\"type\":\"struct\"} ,\n\"payload\" :" + event + "\n}\n"));
    assertEquals("c", op("\uFEFF{\"schema\":{},\"payload\":" + event + "}"));
  }

  @Test
  void eventsWithTheSameSchemaAreReadAlike() {
    String head = "{\"schema\":{\"type\":\"struct\",\"fields\":[]},\"payload\":";
    for (int id = 1; id <= 3; id++) {
      String row = "{\"id\":%d,\"region\":\"eu\"}".formatted(id);
      assertEquals(id, events.columns(head + event("c", "null", row) + "}").getInt(0));
    }
    String row = "{\"id\":4,\"region\":\"eu\"}";
    assertEquals(4, events.columns(head + event("c", "null", row) + " \n} ").getInt(0));
    assertEquals(
        "it has a schema and no payload, as the mark of a deleted key has",
        events.reason(head + "null}"));
    assertEquals(
        "not JSON: it goes on after the end of the object",
        events.reason(head + event("c", "null", row) + "} {}"));
    assertTrue(events.reason(head + event("c", "null", row)).startsWith("not JSON: "));
    assertTrue(events.reason(head + "{\"op\":").startsWith("not JSON: "));
    assertTrue(events.reason(head + "{\u0000").startsWith("not JSON: "));
    assertEquals(
        "d", op(head + event("c", "null", row) + ",\"payload\":" + event("d", row, "null") + "}"));
  }

  @Test
  void anUnwrappedRowSaysWhatHappened() {
    String row = "{\"id\":7,\"region\":\"eu\",\"total\":2.5,%s}";
    assertEquals("u", op(row.formatted("\"__deleted\":\"false\"")));
    assertEquals("r", op(row.formatted("\"__deleted\":false,\"__op\":\"r\"")));
    assertEquals("d", op(row.formatted("\"__deleted\":\"true\"")));
    assertEquals("d", op(row.formatted("\"__deleted\":true,\"__op\":\"u\"")));
    assertTrue(events.columns(row.formatted("\"__op\":\"d\"")).isNullAt(2));
    InternalRow change =
        events.change(
            row.formatted(
                "\"op\":\"x\",\"payload\":{},\"__op\":\"u\",\"__deleted\":false,\"__lsn\":16,"
                    + "\"__source_ts_ms\":1500,\"__transaction_id\":\"9\""));
    assertEquals("0000000000000010/0000000000000010", change.getString(1));
    assertEquals(1_500_000L, change.getLong(2));
    assertEquals("9", change.getString(3));
  }

  @Test
  void aRowThatLeavesItsDeletionToARecordWithoutAValueIsNoneUntilThatIsSaid() {
    String row = "{\"id\":7,\"region\":\"eu\",\"op\":\"x\",\"payload\":{},\"before\":1%s}";
    String said = "it was unwrapped and has no __deleted, so that deletions are records without";
    assertTrue(events.reason(row.formatted(",\"__op\":\"c\"")).startsWith(said));
    ChangeEvents rows = new ChangeEvents(TABLE, Epoch.AUTO, Told.ROWS, "id", "region");
    assertEquals("u", rows.change(row.formatted("")).getString(0));
    assertEquals("c", rows.change(row.formatted(",\"__op\":\"c\"")).getString(0));
    assertEquals("d", rows.change(row.formatted(",\"__deleted\":\"true\"")).getString(0));
    String wrapped = "{\"schema\":{\"type\":\"struct\",\"fields\":[]},\"payload\":%s}";
    assertEquals("u", rows.change(wrapped.formatted(row.formatted(""))).getString(0));
    assertEquals(
        "column 'region': it is missing, and it is the key", rows.reason("{\"id\":7}"));
  }

  @Test
  void whatIsNoChangeOfARowSaysWhatItIs() {
    assertEquals(
        "it is a logical message and no change of a row",
        events.reason("{\"op\":\"m\",\"message\":{\"prefix\":\"a\",\"content\":\"\"}}"));
    assertEquals(
        "it is the BEGIN of a transaction and no change of a row",
        events.reason("{\"status\":\"BEGIN\",\"id\":\"571\",\"ts_ms\":1,\"event_count\":null}"));
    assertEquals(
        "it is a change of a table's schema and no change of a row",
        events.reason("{\"source\":{},\"databaseName\":\"a\",\"ddl\":null,\"tableChanges\":[]}"));
    assertEquals(
        "expected op c, u, d, r or t, found \"x\"", events.reason(event("x", "null", "{}")));
    assertEquals(
        "it has no op, which says what happened to the row",
        events.reason("{\"op\":{\"a\":1},\"after\":{\"id\":1}}"));
    for (String other : List.of("{}", "{\"id\":1,\"region\":\"eu\"}", "{\"payload\":{}}")) {
      assertTrue(events.reason(other).startsWith("it is no change event: "), other);
    }
  }

  @Test
  void noRecordMakesItFail() {
    String deep = "[".repeat(2000) + "]".repeat(2000);
    for (String hostile :
        List.of(
            "[]",
            "1",
            "null",
            "\"op\"",
            "{",
            "{\"payload\":null}",
            "{\"payload\":[{}]}",
            "{\"schema\":[1],\"payload\":1}",
            "{\"schema\":" + deep + ",\"payload\":{}}",
            "{\"op\":\"c\",\"after\":" + deep + "}",
            "{\"op\":\"c\",\"after\":{\"x\":" + deep + "}}",
            "{\"op\":\"c\",\"after\":[]}",
            "{\"op\":\"c\",\"after\":5}",
            "{\"op\":\"c\",\"after\":true}",
            "{\"op\":\"c\",\"after\":\"\"}",
            "{\"op\":\"c\",\"after\":\"[]\"}",
            "{\"op\":\"c\",\"after\":\"{\"}",
            "{\"op\":\"c\",\"after\":{\"id\":1e400,\"region\":\"\"}}",
            "{\"op\":\"c\",\"after\":{\"id\":" + "9".repeat(1500) + ",\"region\":\"\"}}",
            "{\"op\":\"c\",\"after\":{\"id\":99999999999,\"region\":\"\"}}",
            "{\"op\":\"c\",\"after\":{\"id\":\"x\",\"region\":\"\"}}",
            "{\"op\":null,\"source\":7,\"transaction\":[{}],\"after\":{}}",
            "{\"op\":\"c\",\"after\":{\"id\":{\"scale\":1e9,\"value\":{}},\"region\":\"\"}}")) {
      assertNotNull(events.reason(hostile), hostile);
    }
  }

  @Test
  void ofMembersThatAreThereTwiceTheLastCounts() {
    String row = "{\"id\":1,\"region\":\"a\",\"id\":2,\"region\":\"b\"}";
    String event =
        "{\"op\":\"d\",\"after\":null,\"op\":\"c\",\"source\":{\"lsn\":1,\"lsn\":2},\"after\":"
            + row
            + "}";
    InternalRow columns = events.columns(event);
    assertEquals(2, columns.getInt(0));
    assertEquals("b", columns.getString(1));
    assertEquals("0000000000000002/0000000000000002", columns.getStruct(3, 6).getString(1));
  }

  @Test
  void namesOfAnotherCaseCountAndSourcesMayBeStrange() {
    InternalRow columns =
        events.columns(
            "{\"op\":\"c\",\"after\":{\"ID\":3,\"Region\":\"x\"},\"source\":"
                + "{\"lsn\":{\"a\":1},\"ts_ms\":\"...\",\"ts_us\":9223372036854775807,"
                + "\"snapshot\":[1],\"txId\":null},\"ts_ms\":\"soon\"}");
    assertEquals(3, columns.getInt(0));
    InternalRow change = columns.getStruct(3, 6);
    assertTrue(change.isNullAt(1) && change.isNullAt(2) && change.isNullAt(3));
    assertTrue(change.isNullAt(4) && change.isNullAt(5));
  }

  @Test
  void aDocumentIsReadFromItsText() {
    StructType table =
        new StructType()
            .add("_id", DataTypes.LongType)
            .add("ref", DataTypes.StringType)
            .add("at", DataTypes.TimestampType)
            .add("price", DataTypes.createDecimalType(10, 2))
            .add("data", DataTypes.BinaryType);
    ChangeEvents documents = new ChangeEvents(table, Epoch.AUTO, "_id");
    String text =
        "{'_id': {'$numberLong': '42'}, 'ref': {'$oid': 'abc'}, 'at': {'$date': 1000},"
            + " 'price': {'$numberDecimal': '9.99'}, 'data': {'$binary': 'aGk=', '$type': '00'}}";
    String event = "{\"op\":\"c\",\"after\":\"" + text.replace("'", "\\\"") + "\"}";
    InternalRow row = documents.columns(event);
    assertEquals(42L, row.getLong(0));
    assertEquals("abc", row.getString(1));
    assertEquals(1_000_000L, row.getLong(2));
    assertEquals("9.99", row.getDecimal(3, 10, 2).toString());
    assertEquals(2, row.getBinary(4).length);
    assertNull(documents.reason(event.replace("\"c\"", "\"d\"").replace("after", "before")));
    assertEquals(
        "expected a document, found \"oops\"",
        documents.reason("{\"op\":\"c\",\"after\":\"oops\"}"));
  }
}
