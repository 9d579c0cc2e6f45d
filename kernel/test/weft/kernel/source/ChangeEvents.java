package weft.kernel.source;

import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** A parser of change events for tests: events in, columns and changes out. */
final class ChangeEvents {
  static final StructType CHANGE =
      new StructType()
          .add("op", DataTypes.StringType)
          .add("position", DataTypes.StringType)
          .add("at", DataTypes.TimestampType)
          .add("transaction", DataTypes.StringType)
          .add("snapshot", DataTypes.StringType)
          .add("kept", DataTypes.createArrayType(DataTypes.StringType));

  private final StructType table;
  private final DebeziumRecords parser;

  ChangeEvents(StructType table, Epoch times, String... keys) {
    this(table, times, Told.CHANGES, keys);
  }

  ChangeEvents(StructType table, Epoch times, Told told, String... keys) {
    this.table = table;
    this.parser = new DebeziumRecords(table.add("_change", CHANGE), List.of(keys), times, told);
  }

  /** A table with an id and one more column, {@code v}. */
  static ChangeEvents of(DataType type) {
    StructType table = new StructType().add("id", DataTypes.LongType).add("v", type);
    return new ChangeEvents(table, Epoch.AUTO, "id");
  }

  InternalRow parse(String event) {
    return parser.parse(event.getBytes(StandardCharsets.UTF_8), null);
  }

  InternalRow columns(String event) {
    InternalRow row = parse(event);
    assertNull(row.getUTF8String(1), event);
    return row.getStruct(0, table.size() + 1);
  }

  InternalRow change(String event) {
    return columns(event).getStruct(table.size(), CHANGE.size());
  }

  String reason(String event) {
    UTF8String reason = parse(event).getUTF8String(1);
    return reason == null ? null : reason.toString();
  }

  /** One column of a row, as Java prints it. */
  Object value(String column, String event) {
    int place = table.fieldIndex(column);
    return columns(event).get(place, table.fields()[place].dataType());
  }

  /** The value of {@code v} in an event without a schema. */
  Object value(String json) {
    return value("v", event(json));
  }

  /** The value of {@code v} in an event whose schema describes it so. */
  Object value(String type, String name, String parameters, String json) {
    return value("v", event(type, name, parameters, json));
  }

  /** The creation of row 1. */
  static String event(String json) {
    return "{\"before\":null,\"after\":{\"id\":1,\"v\":" + json + "},\"op\":\"c\"}";
  }

  /** The same with a schema. */
  static String event(String type, String name, String parameters, String json) {
    String field =
        "{\"field\":\"v\",\"optional\":true,\"type\":\"%s\",\"name\":%s,\"parameters\":{%s}}"
            .formatted(type, name == null ? "null" : '"' + name + '"', parameters);
    return wrapped(field, event(json));
  }

  /** An event in a wrapper whose schema has the row's id and this field. */
  static String wrapped(String field, String event) {
    String row = "{\"type\":\"struct\",\"fields\":[{\"field\":\"id\",\"type\":\"int64\"},%s],";
    return ("{\"schema\":{\"type\":\"struct\",\"fields\":["
            + row.formatted(field)
            + "\"field\":\"before\"},"
            + row.formatted(field)
            + "\"field\":\"after\"},{\"field\":\"op\",\"type\":\"string\"}]},\"payload\":")
        + event
        + "}";
  }
}
