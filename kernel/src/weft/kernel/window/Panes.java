package weft.kernel.window;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.ExpressionUtils$;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Event-time windows over a stream: panes, late rows, and a report per bucket.
 *
 * <p>Records are combined per partition ({@link Slicer}), meet in buckets of keys that keep the state, and come out as
 * messages that become rows again ({@link Unpack}). There are no timers and there is no watermark of Spark's: control
 * rows bring the watermark of every knot to every bucket, so that panes are a function of the sequence of knots.
 */
public final class Panes {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String WEFT = "_weft";
  private static final String CONTROL = "_control";

  private Panes() {}

  /** Attaches a window to the rows of a stream with control rows among them. */
  public static Dataset<Row> attach(Dataset<Row> rows, String specJson) {
    JsonNode spec = parse(specJson);
    Shape shape = new Shape(spec.get("window"));
    List<Column> keys = new ArrayList<>();
    StructType keyType = new StructType();
    for (JsonNode by : spec.path("by")) {
      Column key = functions.expr(by.get("expr").textValue());
      DataType type = typeOf(rows, key);
      keys.add(isFloating(type) ? normal(key) : key);
      keyType = keyType.add(by.get("name").textValue(), type);
    }
    List<Definition> definitions = new ArrayList<>();
    List<Column> arguments = new ArrayList<>();
    spec.path("aggregates").forEach(each -> definitions.add(define(rows, each, arguments)));
    Layout layout = new Layout(definitions, Slicer.HEAD, shape.timestamp, shape.isSession());
    StructType stream = new StructType();
    List<Column> inputs = new ArrayList<>();
    inputs.add(functions.col(CONTROL));
    inputs.add(functions.expr(spec.path("event_time").asText(WEFT + ".event_time")).cast(DataTypes.TimestampType));
    inputs.add(functions.expr(WEFT + ".knot"));
    inputs.add(functions.expr(WEFT + ".watermark").cast(DataTypes.TimestampType));
    inputs.add(layout.isOrdered ? functions.expr(WEFT + ".id") : functions.lit(null).cast(DataTypes.StringType));
    inputs.addAll(keys);
    inputs.addAll(arguments);
    for (StructField field : rows.schema().fields()) {
      if (!field.name().equals(CONTROL) && !field.name().equals(WEFT)) {
        inputs.add(rows.col("`" + field.name().replace("`", "``") + "`"));
        stream = stream.add(field.name(), field.dataType());
      }
    }
    inputs.add(functions.col(WEFT));
    stream = stream.add(WEFT, rows.schema().apply(WEFT).dataType());
    inputs.add(functions.expr(WEFT + ".id"));
    Task task =
        new Task(
            specJson,
            shape,
            layout,
            spec.path("buckets").asInt(8),
            keyType,
            PaneRow.type(keyType, layout),
            LateRow.type(stream));
    return attach(rows, task, inputs, keys.size(), arguments.size());
  }

  private static Dataset<Row> attach(Dataset<Row> rows, Task task, List<Column> inputs, int keys, int arguments) {
    StatefulProcessor<Integer, Row, Row> processor =
        task.shape().isSliced() ? new SliceProcessor(task) : new KeyProcessor(task);
    StructType result =
        new StructType()
            .add("pane", task.paneType())
            .add("late", task.lateType())
            .add("control", DataTypes.StringType);
    Dataset<Row> messages =
        rows.select(column(new Slicer(expressions(inputs), task, keys, arguments)))
            .groupBy("bucket")
            .as(Encoders.INT(), Encoders.row(Message.IN))
            .transformWithState(processor, TimeMode.None(), OutputMode.Append(), Encoders.row(Message.OUT));
    List<Column> outputs = List.of(functions.col("kind"), functions.col("payload"));
    return messages.select(column(new Unpack(expressions(outputs), result)));
  }

  private static Definition define(Dataset<Row> rows, JsonNode each, List<Column> arguments) {
    String function = each.get("function").textValue();
    List<DataType> types = new ArrayList<>();
    for (JsonNode text : each.path("args")) {
      Column argument = functions.expr(text.textValue());
      DataType cast = Definition.cast(function, typeOf(rows, argument));
      argument = cast == null ? argument : argument.cast(cast);
      types.add(typeOf(rows, argument));
      arguments.add(argument);
    }
    return new Definition(
        each.get("name").textValue(),
        function,
        types,
        Definition.doubles(each.path("shares")),
        each.path("many").asBoolean(),
        each.path("skips_nulls").asBoolean());
  }

  private static DataType typeOf(Dataset<Row> rows, Column column) {
    return rows.select(column).schema().fields()[0].dataType();
  }

  private static boolean isFloating(DataType type) {
    return type instanceof DoubleType || type instanceof FloatType;
  }

  /** One key for both zeros and one for all NaNs, as SQL groups them. */
  private static Column normal(Column key) {
    Expression expression = ExpressionUtils$.MODULE$.expression(key);
    return column(new org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero(expression));
  }

  private static List<Expression> expressions(List<Column> columns) {
    List<Expression> expressions = new ArrayList<>();
    columns.forEach(each -> expressions.add(ExpressionUtils$.MODULE$.expression(each)));
    return expressions;
  }

  private static Column column(Expression expression) {
    return ExpressionUtils$.MODULE$.column(expression);
  }

  private static JsonNode parse(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("The window is not JSON: " + text, e);
    }
  }
}
