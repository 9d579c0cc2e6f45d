package weft.kernel.source;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import weft.kernel.json.Json;
import weft.kernel.spark.Catalyst;

/**
 * Columns that parse records, for the Python side: a struct of the declared columns and of the
 * reason why not.
 */
public final class Parse {
  private Parse() {}

  /**
   * Parse JSON objects; {@code schema} is in Spark's JSON form, {@code required} a column's name or
   * null.
   */
  public static Column json(Column value, Column header, String schema, String required) {
    return column(value, header, new JsonRecords((StructType) DataType.fromJson(schema), required));
  }

  /**
   * Parse CSV lines, whose columns are named by {@code header} or, where that is null, in declared
   * order.
   */
  public static Column csv(
      Column value, Column header, String schema, String required, String separator) {
    StructType columns = (StructType) DataType.fromJson(schema);
    return column(value, header, new CsvRecords(columns, required, separator.charAt(0)));
  }

  /**
   * Parse change events of Debezium; {@code schema} has the change as its last column, {@code keys}
   * is a JSON array of the key columns' names, and {@code times} what numbers in timestamp columns
   * count where an event has no schema: s, ms, us, ns, or auto. What the records tell is one of
   * changes, rows and transactions.
   */
  public static Column debezium(
      Column value, String schema, String keys, String times, String told) {
    StructType columns = (StructType) DataType.fromJson(schema);
    List<String> names = new ArrayList<>();
    Json.parse(keys).forEach(name -> names.add(name.asText()));
    Column header = functions.lit(null).cast(DataTypes.StringType);
    RecordParser parser =
        new DebeziumRecords(columns, names, Epoch.named(times), Told.named(told));
    return column(value, header, parser);
  }

  private static Column column(Column value, Column header, RecordParser parser) {
    return Catalyst.call(parser, RecordParser.class, "parse", parser.resultType(), value, header);
  }
}
