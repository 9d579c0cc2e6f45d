package weft.kernel.window.plan;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
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
import weft.kernel.spark.gate.Sql;
import weft.kernel.window.bucket.BucketMessage;
import weft.kernel.window.bucket.Engine;
import weft.kernel.window.bucket.HeapState;
import weft.kernel.window.bucket.RocksState;

/** The parts that every operator with buckets puts its plan together from. */
final class BucketPlan {
  static final String WEFT = RecordHash.WEFT;
  static final String CONTROL = RecordHash.CONTROL;

  /** Places of the columns that come first. */
  static final int CONTROL_AT = 0;

  static final int EVENT_TIME_AT = 1;
  static final int KNOT_AT = 2;
  static final int WATERMARK_AT = 3;
  static final int HEAD = 4;

  private BucketPlan() {}

  static boolean isOnHeap(JsonNode spec) {
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
  static StructType columns(Dataset<Row> rows, List<Column> into) {
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

  static Column id() {
    return Sql.column(WEFT + ".id");
  }

  /** The same columns under plain names, each computed once. */
  static Dataset<Row> layOut(Dataset<Row> rows, List<Column> columns) {
    Column[] named = new Column[columns.size()];
    for (int at = 0; at < named.length; at++) {
      named[at] = columns.get(at).as("c" + at);
    }
    return rows.select(named);
  }

  static List<Column> columns(Dataset<Row> rows) {
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
  static Column key(Dataset<Row> rows, Column key) {
    DataType type = typeOf(rows, key);
    boolean isFloating = type instanceof DoubleType || type instanceof FloatType;
    return isFloating ? Catalyst.normalized(key) : key;
  }

  /** Rows to messages, messages through the buckets, messages to rows again. */
  static Dataset<Row> run(
      Dataset<Row> rows, RowGenerator sender, Engine engine, StructType result, boolean isOnHeap) {
    KeyValueGroupedDataset<Integer, Row> buckets =
        rows.select(sender.column())
            .groupBy("bucket")
            .as(Encoders.INT(), Encoders.row(BucketMessage.IN));
    Dataset<Row> messages =
        isOnHeap
            ? buckets.flatMapGroupsWithState(
                new HeapState(engine),
                OutputMode.Append(),
                Encoders.BINARY(),
                Encoders.row(BucketMessage.OUT),
                GroupStateTimeout.NoTimeout())
            : buckets.transformWithState(
                new RocksState(engine),
                TimeMode.None(),
                OutputMode.Append(),
                Encoders.row(BucketMessage.OUT));
    List<Column> outputs = List.of(functions.col("kind"), functions.col("payload"));
    return messages.select(new Unpacker(Inputs.of(outputs), result).column());
  }
}
