package weft.kernel.change;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

class NewestRowsTest {
  private static final StructType CHANGE =
      new StructType()
          .add("op", DataTypes.StringType)
          .add("position", DataTypes.StringType)
          .add("snapshot", DataTypes.StringType)
          .add("kept", DataTypes.createArrayType(DataTypes.StringType));
  private static final StructType WEFT =
      new StructType().add("id", DataTypes.StringType).add("knot", DataTypes.LongType);
  private static final StructType SCHEMA =
      new StructType()
          .add("key", DataTypes.StringType)
          .add("value", DataTypes.StringType)
          .add("_change", CHANGE)
          .add("_weft", WEFT);

  private long offset;

  private static UTF8String text(String value) {
    return UTF8String.fromString(value);
  }

  private InternalRow row(String key, String value, String op, String position, String... kept) {
    return row(key, value, op, position, null, kept);
  }

  private InternalRow row(
      String key, String value, String op, String position, String snapshot, String[] kept) {
    Object[] names = Arrays.stream(kept).map(NewestRowsTest::text).toArray();
    Object left = kept.length == 0 ? null : new GenericArrayData(names);
    Object[] change = {text(op), text(position), text(snapshot), left};
    Object[] weft = {text("table/0/" + ++offset), 1L};
    return new GenericInternalRow(
        new Object[] {
          text(key),
          text(value),
          new GenericInternalRow(change),
          new GenericInternalRow(weft)
        });
  }

  private static List<String> chosen(InternalRow... rows) {
    List<String> found = new ArrayList<>();
    Iterator<InternalRow> chosen =
        new NewestRows(SCHEMA, List.of("key")).call(List.of(rows).iterator());
    while (chosen.hasNext()) {
      InternalRow row = chosen.next();
      InternalRow change = row.getStruct(2, CHANGE.size());
      boolean isPassed = TableRows.PASSED.equals(change.getUTF8String(0));
      found.add(isPassed ? passed(change.getUTF8String(1)) : row.getUTF8String(1).toString());
    }
    return found;
  }

  private static String passed(Object changes) {
    return "passed over: " + changes;
  }

  @Test
  void ofEachKeyTheNewestIsLeftWhateverCameFirst() {
    List<String> found =
        chosen(
            row("a", "1", "c", "01"),
            row("a", "3", "u", "03"),
            row("a", "2", "u", "02"),
            row("b", "4", "d", "04"));
    assertEquals(List.of("3", "4", passed(2)), found);
  }

  @Test
  void withoutPositionsWhatCameLastIsTheNewest() {
    assertEquals(
        List.of("2", passed(1)), chosen(row("a", "1", "c", null), row("a", "2", "u", null)));
  }

  @Test
  void whatHasTheValuesThatTheNewestLeftOutStays() {
    List<String> found =
        chosen(
            row("a", "4", "u", "04", "value"),
            row("a", "2", "u", "02"),
            row("a", "3", "u", "03", "value"),
            row("a", "1", "c", "01"));
    assertEquals(List.of("2", "3", "4", passed(1)), found);
  }

  @Test
  void whatEmptiesTheTableStays() {
    List<String> found =
        chosen(
            row(null, "emptied", "t", "02"),
            row("a", "last", "r", "01", "last", new String[0]),
            row("a", "new", "u", "03"));
    assertEquals(List.of("emptied", "last", "new"), found);
  }
}
