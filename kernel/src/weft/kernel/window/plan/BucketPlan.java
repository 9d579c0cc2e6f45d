package weft.kernel.window.plan;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.KeyValueGroupedDataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.GroupStateTimeout;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import weft.kernel.hash.RecordHash;
import weft.kernel.spark.Catalyst;
import weft.kernel.spark.Inputs;
import weft.kernel.spark.RowGenerator;
import weft.kernel.spark.gate.Layers;
import weft.kernel.spark.gate.Sql;
import weft.kernel.window.aggregate.Aggregate;
import weft.kernel.window.bucket.BucketMessage;
import weft.kernel.window.bucket.Engine;
import weft.kernel.window.bucket.HeapState;
import weft.kernel.window.bucket.RocksState;

/** The parts that every operator with buckets puts its plan together from. */
public final class BucketPlan {
  static final String WEFT = RecordHash.WEFT;
  static final String CONTROL = RecordHash.CONTROL;

  /** Places of the columns that come first. */
  static final int CONTROL_AT = 0;

  static final int EVENT_TIME_AT = 1;
  static final int KNOT_AT = 2;
  static final int WATERMARK_AT = 3;
  static final int HEAD = 4;

  private BucketPlan() {}

  public static boolean isOnHeap(JsonNode spec) {
    return spec.path("state").asText().equals("memory");
  }

  /** The columns that come first: control, event time, knot and watermark. */
  static List<Column> head(JsonNode spec) {
    List<Column> columns = new ArrayList<>();
    columns.add(functions.col(CONTROL));
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
      if (!field.name().equals(CONTROL) && !field.name().equals(WEFT)) {
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

  public static List<Column> columns(Dataset<Row> rows) {
    List<Column> columns = new ArrayList<>();
    for (String name : rows.columns()) {
      columns.add(functions.col(name));
    }
    return columns;
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

  /** Rows to messages, messages through the buckets, messages to rows again. */
  static Dataset<Row> run(
      Dataset<Row> rows, RowGenerator sender, Engine engine, StructType result, boolean isOnHeap) {
    Dataset<Row> messages = rows.select(sender.column());
    return unpack(run(messages, engine, BucketMessage.OUT, isOnHeap), result);
  }

  /** Messages through the buckets of an engine, which answers in a form of messages. */
  public static Dataset<Row> run(
      Dataset<Row> messages, Engine engine, StructType form, boolean isOnHeap) {
    KeyValueGroupedDataset<Integer, Row> buckets =
        messages.groupBy("bucket").as(Encoders.INT(), Encoders.row(BucketMessage.IN));
    return isOnHeap
        ? buckets.flatMapGroupsWithState(
            new HeapState(engine),
            OutputMode.Append(),
            Encoders.BINARY(),
            Encoders.row(form),
            GroupStateTimeout.NoTimeout())
        : buckets.transformWithState(
            new RocksState(engine), TimeMode.None(), OutputMode.Append(), Encoders.row(form));
  }

  /** The rows in the messages that buckets have answered with. */
  public static Dataset<Row> unpack(Dataset<Row> messages, StructType result) {
    List<Column> outputs = List.of(functions.col("kind"), functions.col("payload"));
    return messages.select(new Unpacker(Inputs.of(outputs), result).column());
  }
}
