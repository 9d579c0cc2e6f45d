package weft.kernel.window.plan;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import weft.kernel.hash.RecordHash;
import weft.kernel.spark.Catalyst;
import weft.kernel.spark.gate.Layers;
import weft.kernel.spark.gate.Sql;
import weft.kernel.window.aggregate.Aggregate;

/** The columns that operators with buckets read of the rows of a stream. */
public final class BucketPlan {
  static final String WEFT = RecordHash.WEFT;

  /** Places of the columns that come first. */
  static final int EVENT_TIME_AT = 0;

  static final int KNOT_AT = 1;
  static final int WATERMARK_AT = 2;
  static final int HEAD = 3;

  private BucketPlan() {}

  /** The columns that come first: event time, knot and watermark. */
  static List<Column> head(JsonNode spec) {
    List<Column> columns = new ArrayList<>();
    columns.add(
        Sql.column(spec.path("event_time").asText(WEFT + ".event_time"))
            .cast(DataTypes.TimestampType));
    columns.add(Sql.column(spec.path("knot").asText(WEFT + ".knot")));
    columns.add(Sql.column(WEFT + ".watermark").cast(DataTypes.TimestampType));
    return columns;
  }

  /** Adds the columns of the stream, its struct last, and returns their types. */
  public static StructType columns(Dataset<Row> rows, List<Column> into) {
    StructType stream = new StructType();
    for (StructField field : rows.schema().fields()) {
      if (!field.name().equals(WEFT)) {
        into.add(rows.col("`" + field.name().replace("`", "``") + "`"));
        stream = stream.add(field.name(), field.dataType());
      }
    }
    into.add(functions.col(WEFT));
    return stream.add(WEFT, rows.schema().apply(WEFT).dataType());
  }

  public static Column id() {
    return Sql.column(WEFT + ".id");
  }

  /** The same columns under plain names, each computed once. */
  public static Dataset<Row> layOut(Dataset<Row> rows, List<Column> columns) {
    Column[] named = new Column[columns.size()];
    for (int at = 0; at < named.length; at++) {
      named[at] = columns.get(at).as("c" + at);
    }
    return rows.select(named);
  }

  static DataType typeOf(Dataset<Row> rows, Column column) {
    return rows.select(column).schema().fields()[0].dataType();
  }

  /** A key column; one key for both zeros and one for all NaNs, as SQL groups them. */
  public static Column key(Dataset<Row> rows, Column key) {
    DataType type = typeOf(rows, key);
    boolean isFloating = type instanceof DoubleType || type instanceof FloatType;
    return isFloating ? Catalyst.normalized(key) : key;
  }

  /**
   * A declared aggregate, whose arguments are added to the columns.
   *
   * @param tried what becomes of an argument that may fail
   */
  static Aggregate define(
      Dataset<Row> rows, JsonNode each, List<Column> arguments, UnaryOperator<Column> tried) {
    String function = each.get("function").textValue();
    List<DataType> types = new ArrayList<>();
    for (JsonNode text : each.path("args")) {
      Column argument = Layers.column(rows, text.textValue());
      DataType type = typeOf(rows, argument);
      DataType cast = Aggregate.cast(function, type);
      Column value = each.path("total").asBoolean() ? argument : tried.apply(argument);
      types.add(cast == null ? type : cast);
      arguments.add(cast == null ? value : value.cast(cast));
    }
    return new Aggregate(
        each.get("name").textValue(),
        function,
        types,
        Aggregate.doubles(each.path("shares")),
        each.path("many").asBoolean(),
        each.path("skips_nulls").asBoolean());
  }

  /** A declared aggregate, whose arguments are added to the columns as they are. */
  public static Aggregate define(Dataset<Row> rows, JsonNode each, List<Column> arguments) {
    return define(rows, each, arguments, UnaryOperator.identity());
  }
}
