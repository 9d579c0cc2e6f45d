package weft.kernel.window.plan;

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
import weft.kernel.json.Json;
import weft.kernel.spark.Inputs;
import weft.kernel.spark.gate.Layers;
import weft.kernel.spark.gate.Sql;
import weft.kernel.window.aggregate.Aggregate;
import weft.kernel.window.bucket.Engine;
import weft.kernel.window.bucket.KeyEngine;
import weft.kernel.window.bucket.LateRow;
import weft.kernel.window.bucket.PaneRow;
import weft.kernel.window.bucket.SliceEngine;
import weft.kernel.window.bucket.WindowTask;
import weft.kernel.window.state.SlotLayout;
import weft.kernel.window.time.Millis;
import weft.kernel.window.time.WindowSpec;

/**
 * Event-time windows over a stream: panes, late rows, and a report per bucket.
 *
 * <p>Records are combined per partition ({@link Slicer}), meet in buckets of keys that keep the
 * state, and come out as messages that become rows again ({@link Unpacker}). There are no timers
 * and there is no watermark of Spark's: control rows bring the watermark of every knot to every
 * bucket, so that panes are a function of the sequence of knots.
 */
public final class Panes {
  private Panes() {}

  /** Attaches a window to the rows of a stream with control rows among them. */
  public static Dataset<Row> attach(Dataset<Row> rows, String specJson) {
    JsonNode spec = Json.parse(specJson);
    WindowSpec window = new WindowSpec(spec.get("window"));
    List<Column> keys = new ArrayList<>();
    StructType keyType = new StructType();
    for (JsonNode by : spec.path("by")) {
      Column key = Sql.column(by.get("expr").textValue());
      keys.add(BucketPlan.key(rows, key));
      keyType = keyType.add(by.get("name").textValue(), BucketPlan.typeOf(rows, key));
    }
    List<Aggregate> aggregates = new ArrayList<>();
    List<Column> arguments = new ArrayList<>();
    Tries tries = new Tries();
    for (JsonNode each : spec.path("aggregates")) {
      aggregates.add(BucketPlan.define(rows, each, arguments, tries::value));
    }
    SlotLayout layout =
        new SlotLayout(
            aggregates, Slicer.arguments(keys.size()), window.timestamp, window.hasSpan());
    List<Column> inputs = BucketPlan.head(spec);
    List<Column> columns = new ArrayList<>();
    StructType late = LateRow.type(BucketPlan.columns(rows, columns));
    columns.add(BucketPlan.id());
    inputs.add(
        functions.when(
            mayBeLate(inputs, window), functions.struct(columns.toArray(new Column[0]))));
    inputs.add(
        tries.isEmpty()
            ? functions.lit(null).cast(DeadRow.type(rows))
            : DeadRow.of(rows, tries.error(), "aggregate"));
    inputs.addAll(keys);
    inputs.addAll(arguments);
    if (layout.isOrdered) {
      inputs.add(BucketPlan.id());
    }
    StructType pane = PaneRow.type(keyType, layout);
    int buckets = spec.get("buckets").intValue();
    WindowTask task =
        new WindowTask(
            specJson, window, layout, buckets, spec.path("inputs").asInt(1), keyType, pane, late);
    StructType result =
        new StructType()
            .add("pane", pane)
            .add("late", late)
            .add("control", DataTypes.StringType)
            .add("dead", DeadRow.type(rows));
    // Laid out as columns first, a row is written once, and what only late rows need is not written
    // at all.
    Dataset<Row> laidOut = BucketPlan.layOut(tries.around(rows), inputs);
    Slicer slicer = new Slicer(Inputs.of(BucketPlan.columns(laidOut)), task);
    Engine engine = window.isSliced() ? new SliceEngine(task) : new KeyEngine(task);
    return BucketPlan.run(laidOut, slicer, engine, result, BucketPlan.isOnHeap(spec));
  }

  /** Whether a record is so old that it may be late: true of every late one, and of few others. */
  private static Column mayBeLate(List<Column> inputs, WindowSpec window) {
    Column eventTime = inputs.get(BucketPlan.EVENT_TIME_AT);
    Column watermark = inputs.get(BucketPlan.WATERMARK_AT);
    Column age = functions.unix_micros(watermark).minus(functions.unix_micros(eventTime));
    return eventTime.isNull().or(age.geq(functions.lit(Millis.toMicros(window.lateness))));
  }
}
