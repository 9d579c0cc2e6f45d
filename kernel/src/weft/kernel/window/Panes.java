package weft.kernel.window;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Event-time windows over a stream: panes, late rows, and a report per bucket.
 *
 * <p>Records are combined per partition ({@link Slicer}), meet in buckets of keys that keep the state, and come out as
 * messages that become rows again ({@link Unpack}). There are no timers and there is no watermark of Spark's: control
 * rows bring the watermark of every knot to every bucket, so that panes are a function of the sequence of knots.
 */
public final class Panes {
  private Panes() {}

  /** Attaches a window to the rows of a stream with control rows among them. */
  public static Dataset<Row> attach(Dataset<Row> rows, String specJson) {
    JsonNode spec = Plan.parse(specJson);
    Shape shape = new Shape(spec.get("window"));
    List<Column> keys = new ArrayList<>();
    StructType keyType = new StructType();
    for (JsonNode by : spec.path("by")) {
      Column key = functions.expr(by.get("expr").textValue());
      keys.add(Plan.key(rows, key));
      keyType = keyType.add(by.get("name").textValue(), Plan.typeOf(rows, key));
    }
    List<Definition> definitions = new ArrayList<>();
    List<Column> arguments = new ArrayList<>();
    spec.path("aggregates").forEach(each -> definitions.add(define(rows, each, arguments)));
    Layout layout = new Layout(definitions, Slicer.HEAD, shape.timestamp, shape.isSession());
    List<Column> inputs = Plan.head(spec, layout.isOrdered);
    inputs.addAll(keys);
    inputs.addAll(arguments);
    StructType late = LateRow.type(Plan.columns(rows, inputs));
    inputs.add(functions.expr(Plan.WEFT + ".id"));
    StructType pane = PaneRow.type(keyType, layout);
    int buckets = spec.get("buckets").intValue();
    Task task = new Task(specJson, shape, layout, buckets, spec.path("inputs").asInt(1), keyType, pane, late);
    StructType result =
        new StructType().add("pane", pane).add("late", late).add("control", DataTypes.StringType);
    Slicer slicer = new Slicer(Plan.expressions(inputs), task, keys.size(), arguments.size());
    Engine engine = shape.isSliced() ? new SliceEngine(task) : new KeyEngine(task);
    return Plan.run(rows, slicer, engine, result, Plan.isOnHeap(spec));
  }

  private static Definition define(Dataset<Row> rows, JsonNode each, List<Column> arguments) {
    String function = each.get("function").textValue();
    List<DataType> types = new ArrayList<>();
    for (JsonNode text : each.path("args")) {
      Column argument = functions.expr(text.textValue());
      DataType cast = Definition.cast(function, Plan.typeOf(rows, argument));
      argument = cast == null ? argument : argument.cast(cast);
      types.add(Plan.typeOf(rows, argument));
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
}
