package weft.kernel.source;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

/**
 * Values of change events are read by their declared type, and by their schema where there is one.
 */
class ConnectValuesTest {
  private static final String TIME = "io.debezium.time.";
  private static final String CONNECT = "org.apache.kafka.connect.data.";
  private static final DataType MONEY = DataTypes.createDecimalType(12, 2);
  private static final long NOON = 1_595_008_822_123_456L; // 2020-07-17T18:00:22.123456Z

  private static String read(DataType type, String form, String name, String json) {
    return read(type, form, name, "", json);
  }

  private static String read(
      DataType type, String form, String name, String parameters, String json) {
    return String.valueOf(ChangeEvents.of(type).value(form, name, parameters, json));
  }

  private static String plain(DataType type, String json) {
    return String.valueOf(ChangeEvents.of(type).value(json));
  }

  private static String reason(DataType type, String json) {
    return ChangeEvents.of(type).reason(ChangeEvents.event(json));
  }

  @Test
  void timestampsCountWhatTheirSchemaSays() {
    DataType type = DataTypes.TimestampType;
    assertEquals("1595008822123000", read(type, "int64", TIME + "Timestamp", "1595008822123"));
    assertEquals("" + NOON, read(type, "int64", TIME + "MicroTimestamp", "" + NOON));
    assertEquals("" + NOON, read(type, "int64", TIME + "NanoTimestamp", NOON + "789"));
    assertEquals("-1", read(type, "int64", TIME + "NanoTimestamp", "-1"));
    assertEquals("5000", read(type, "int64", CONNECT + "Timestamp", "5"));
    assertEquals("86400000000", read(type, "int32", TIME + "Date", "1"));
    assertEquals(
        "1595008822000000",
        read(type, "string", TIME + "ZonedTimestamp", "\"2020-07-17T20:00:22+02:00\""));
    assertEquals(
        "" + NOON,
        read(type, "string", TIME + "ZonedTimestamp", "\"2020-07-17T18:00:22.123456789Z\""));
    assertEquals("1000", read(DataTypes.TimestampNTZType, "int64", TIME + "Timestamp", "1"));
  }

  @Test
  void whatIsNoNumberIsNoDecimalThoughItsLettersCouldBeBase64() {
    for (String text : new String[] {"NaN", "Infinity", "-Infinity"}) {
      assertNotNull(reason(MONEY, '"' + text + '"'), text);
      assertNotNull(reason(DataTypes.LongType, '"' + text + '"'), text);
      assertEquals(text, plain(DataTypes.DoubleType, '"' + text + '"'));
    }
    assertNotNull(reason(DataTypes.DateType, "\"-0043-03-15\""));
    assertNotNull(reason(DataTypes.TimestampType, "\"-0043-03-15T12:00:00Z\""));
    assertNotNull(reason(DataTypes.TimestampType, "\"10000-01-01T00:00:00\""));
    assertNotNull(reason(DataTypes.TimestampType, "\"-infinity\""));
  }

  @Test
  void withoutASchemaTimestampsCountByMagnitudeOrAsDeclared() {
    DataType type = DataTypes.TimestampType;
    assertEquals("1595008822000000", plain(type, "1595008822"));
    assertEquals("1595008822123000", plain(type, "1595008822123"));
    assertEquals("" + NOON, plain(type, "" + NOON));
    assertEquals("" + NOON, plain(type, NOON + "789"));
    assertEquals("99999999999000000", plain(type, "99999999999"));
    assertEquals("100000000000000", plain(type, "100000000000"));
    assertEquals("-1595008822123000", plain(type, "-1595008822123"));
    assertEquals("1595008822500000", plain(type, "1595008822.5"));
    assertEquals("1595008822000000", plain(type, "\"2020-07-17T18:00:22Z\""));
    StructType table = new StructType().add("id", DataTypes.LongType).add("v", type);
    ChangeEvents millis = new ChangeEvents(table, Epoch.named("ms"), "id");
    assertEquals(5000L, millis.value("5"));
    assertEquals(7L, millis.value("int64", TIME + "MicroTimestamp", "", "7"));
    assertEquals("9223372036854775", plain(type, "9223372036854775807"));
    assertNotNull(reason(type, "1e30"));
    assertNotNull(reason(type, "999999999999999999999999"));
    assertNotNull(reason(type, "true"));
    assertNotNull(reason(type, "\"18:00\""));
  }

  @Test
  void datesAreDaysOrTheDayOfATime() {
    DataType type = DataTypes.DateType;
    assertEquals("18460", plain(type, "18460"));
    assertEquals("-1", plain(type, "-1"));
    assertEquals("18460", plain(type, "\"2020-07-17\""));
    assertEquals("18460", read(type, "int32", TIME + "Date", "18460"));
    assertEquals("18460", read(type, "int32", CONNECT + "Date", "18460"));
    assertEquals("18460", read(type, "string", TIME + "IsoDate", "\"2020-07-17Z\""));
    assertEquals("18460", read(type, "int64", TIME + "MicroTimestamp", "" + NOON));
    assertEquals("-1", read(type, "int64", TIME + "Timestamp", "-1"));
    assertEquals(
        "column 'v': 99999999 is out of range for date (years 1 to 9999)",
        reason(type, "99999999"));
    assertNotNull(reason(type, "1.5"));
  }

  @Test
  void decimalsAreReadInEveryHandlingMode() {
    String scale = "\"scale\":\"2\",\"connect.decimal.precision\":\"12\"";
    assertEquals("12345.67", read(MONEY, "bytes", CONNECT + "Decimal", scale, "\"EtaH\""));
    assertEquals("-0.01", read(MONEY, "bytes", CONNECT + "Decimal", scale, "\"/w==\""));
    assertEquals("9.50", read(MONEY, "bytes", CONNECT + "Decimal", scale, "9.5"));
    assertEquals("12.35", read(MONEY, "double", null, "12.345"));
    assertEquals("1234.00", read(MONEY, "string", null, "\"1234\""));
    assertEquals(
        "123.46",
        read(
            MONEY,
            "struct",
            "io.debezium.data.VariableScaleDecimal",
            "{\"scale\":4,\"value\":\"EtaH\"}"));
    assertEquals("1234567", read(DataTypes.LongType, "bytes", CONNECT + "Decimal", "\"EtaH\""));
    assertEquals(
        "12345.67", read(DataTypes.DoubleType, "bytes", CONNECT + "Decimal", scale, "\"EtaH\""));
    assertEquals("-8.5", read(DataTypes.FloatType, "double", null, "-8.5"));
    assertEquals("42", read(DataTypes.IntegerType, "string", null, "\"42\""));
  }

  @Test
  void withoutASchemaADecimalHasItsDeclaredScale() {
    assertEquals("12345.67", plain(MONEY, "\"EtaH\""));
    assertEquals("1234.00", plain(MONEY, "\"1234\""));
    assertEquals("-12.50", plain(MONEY, "\"-12.5\""));
    assertEquals("1200000.00", plain(MONEY, "\"1.2E+6\""));
    assertEquals("123.46", plain(MONEY, "{\"value\":\"EtaH\",\"scale\":4}"));
    assertEquals(
        "column 'v': expected bigint, found \"EtaH\"", reason(DataTypes.LongType, "\"EtaH\""));
    assertEquals("column 'v': expected decimal(12,2), found \"E!\"", reason(MONEY, "\"E!\""));
    assertNotNull(reason(MONEY, "\"\""));
    assertNotNull(reason(MONEY, "{\"scale\":1}"));
    assertNotNull(reason(MONEY, "{\"scale\":2147483647,\"value\":\"EtaH\"}"));
    assertNotNull(reason(MONEY, "\"f/////////8=\""), "out of range");
    assertNotNull(reason(MONEY, "true"));
  }

  @Test
  void aDecimalWhoseBytesAreNoneIsBad() {
    ChangeEvents events = ChangeEvents.of(MONEY);
    String name = CONNECT + "Decimal";
    for (String wrong : List.of("\"\"", "\"a b\"", "\"12.5\"", "[]", "true")) {
      assertNotNull(
          events.reason(ChangeEvents.event("bytes", name, "\"scale\":\"2\"", wrong)), wrong);
    }
    String huge = "\"scale\":\"999999999\"";
    assertNotNull(events.reason(ChangeEvents.event("bytes", name, huge, "\"EtaH\"")));
    assertNotNull(
        ChangeEvents.of(DataTypes.StringType)
            .reason(ChangeEvents.event("bytes", name, huge, "\"EtaH\"")));
  }

  @Test
  void aStringTakesEveryValueAsItsText() {
    DataType type = DataTypes.StringType;
    assertEquals("1.5", plain(type, "1.5"));
    assertEquals("{\"a\":[1]}", plain(type, "{\"a\": [1]}"));
    assertEquals(
        "0.0000001234567",
        read(type, "bytes", CONNECT + "Decimal", "\"scale\":\"13\"", "\"EtaH\""));
    assertEquals(
        "123456700",
        read(
            type,
            "struct",
            "io.debezium.data.VariableScaleDecimal",
            "{\"scale\":-2,\"value\":\"EtaH\"}"));
    assertEquals("2020-07-17", read(type, "int32", TIME + "Date", "18460"));
    assertEquals("1970-01-01T00:00:00", read(type, "int64", TIME + "Timestamp", "0"));
    assertEquals(
        "2020-07-17T18:00:22.123456", read(type, "int64", TIME + "MicroTimestamp", "" + NOON));
    assertEquals(
        "2020-07-17T18:00:22.123456789", read(type, "int64", TIME + "NanoTimestamp", NOON + "789"));
    assertEquals(
        "9223372036854775807", read(type, "int64", TIME + "Timestamp", "9223372036854775807"));
    assertEquals("18:00:22", read(type, "int64", TIME + "MicroTime", "64822000000"));
    assertEquals("18:00:22.120", read(type, "int32", TIME + "Time", "64822120"));
    assertEquals("00:00:00.000000001", read(type, "int64", TIME + "NanoTime", "1"));
    assertEquals("-838:59:59", read(type, "int64", TIME + "MicroTime", "-3020399000000"));
    assertEquals(
        "-9223372036854775808", read(type, "int64", TIME + "MicroTime", "-9223372036854775808"));
    assertEquals("P1Y2M", read(type, "string", TIME + "Interval", "\"P1Y2M\""));
    assertEquals("10:00:00+02:00", read(type, "string", TIME + "ZonedTime", "\"10:00:00+02:00\""));
    assertEquals("a,b", read(type, "string", "io.debezium.data.EnumSet", "\"a,b\""));
    assertEquals("true", plain(type, "true"));
    String variable = "io.debezium.data.VariableScaleDecimal";
    assertEquals("1E+2147483647", read(type, "string", variable, "\"1E+2147483647\""));
  }

  @Test
  void numbersKeepToTheirType() {
    assertEquals("2021", read(DataTypes.IntegerType, "int32", TIME + "Year", "2021"));
    assertEquals(
        "3600000000", read(DataTypes.LongType, "int64", TIME + "MicroDuration", "3600000000"));
    assertEquals("513", read(DataTypes.IntegerType, "bytes", "io.debezium.data.Bits", "\"AQI=\""));
    assertEquals("true", plain(DataTypes.BooleanType, "1"));
    assertEquals("false", plain(DataTypes.BooleanType, "false"));
    assertNotNull(reason(DataTypes.BooleanType, "2"));
    assertEquals("NaN", plain(DataTypes.DoubleType, "\"NaN\""));
    assertNotNull(reason(DataTypes.ByteType, "128"));
    assertNotNull(reason(DataTypes.DoubleType, "\"EtaH\""));
    assertNotNull(reason(DataTypes.FloatType, "1e39"));
  }

  @Test
  void bytesAreBase64() {
    Object bytes = ChangeEvents.of(DataTypes.BinaryType).value("bytes", null, "", "\"aGk=\"");
    assertArrayEquals(new byte[] {'h', 'i'}, (byte[]) bytes);
    assertEquals(
        "column 'v': expected binary (base64), found \"\\x68\"",
        reason(DataTypes.BinaryType, "\"\\\\x68\""));
  }

  @Test
  void nestedValuesAreReadByTheirParts() {
    DataType moments = DataTypes.createArrayType(DataTypes.DateType);
    String days =
        "{\"field\":\"v\",\"type\":\"array\",\"items\":{\"type\":\"int64\",\"name\":\"%s\"}}"
            .formatted(TIME + "MicroTimestamp");
    String event = ChangeEvents.wrapped(days, ChangeEvents.event("[" + NOON + ",null]"));
    InternalRow row = ChangeEvents.of(moments).columns(event);
    assertEquals(18460, row.getArray(1).getInt(0));
    assertTrue(row.getArray(1).isNullAt(1));
    DataType hstore = DataTypes.createMapType(DataTypes.StringType, DataTypes.StringType);
    ChangeEvents maps = ChangeEvents.of(hstore);
    for (String form : List.of("{\"a\":\"1\"}", "\"{\\\"a\\\":\\\"1\\\"}\"")) {
      row = maps.columns(ChangeEvents.event(form));
      assertEquals("1", row.getMap(1).valueArray().getUTF8String(0).toString());
    }
    StructType point =
        new StructType().add("x", DataTypes.DoubleType).add("wkb", DataTypes.BinaryType);
    row = ChangeEvents.of(point).columns(ChangeEvents.event("{\"x\":1,\"wkb\":\"aGk=\",\"y\":2}"));
    assertEquals(1.0, row.getStruct(1, 2).getDouble(0));
    assertEquals("column 'v.x': expected double, found true", reason(point, "{\"x\":true}"));
    assertNotNull(reason(point, "\"{\\\"x\\\":\""));
    assertNotNull(reason(point, "\"\""));
    assertNotNull(reason(hstore, "[]"));
  }
}
