package weft.kernel.window.plan;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import weft.kernel.json.Json;
import weft.kernel.operator.Columns;
import weft.kernel.operator.Engine;
import weft.kernel.operator.Operator;
import weft.kernel.spark.BoundColumns;
import weft.kernel.spark.gate.Sql;
import weft.kernel.window.aggregate.Aggregate;
import weft.kernel.window.bucket.KeyEngine;
import weft.kernel.window.bucket.LateRow;
import weft.kernel.window.bucket.PaneRow;
import weft.kernel.window.bucket.SliceEngine;
import weft.kernel.window.bucket.WindowTask;
import weft.kernel.window.state.SlotLayout;
import weft.kernel.window.time.Millis;
import weft.kernel.window.time.WindowSpec;

/**
 * Event-time windows over a stream, or over two that are joined: panes, late rows, and a report per
 * bucket.
 *
 * <p>Records are combined per partition ({@link Slicer}) and meet in buckets of keys that keep the
 * state. There are no timers and there is no watermark of Spark's: every bucket is told the
 * watermark of every knot, so that panes are a function of the sequence of knots.
 */
public final class Panes {
  private final JsonNode spec;
  private final WindowSpec window;
  private final Sides sides;

  private Panes(JsonNode spec, Sides sides) {
    this.spec = spec;
    this.window = new WindowSpec(spec.get("window"));
    this.sides = sides;
  }

  /**
   * A window over rows of these schemas.
   *
   * @param schemas that of the stream, or those of the two that are joined, as JSON
   */
  public static Operator attach(SparkSession spark, List<String> schemas, String specJson) {
    JsonNode spec = Json.parse(specJson);
    List<Dataset<Row>> forms = new ArrayList<>();
    schemas.forEach(schema -> forms.add(BoundColumns.form(spark, schema)));
    return new Panes(spec, Sides.of(spec, forms)).over(spark, forms, specJson);
  }

  private Operator over(SparkSession spark, List<Dataset<Row>> forms, String specJson) {
    // Of each side the other's row is null.
    StructType columnsOfBoth = sides.of(0, forms.get(0)).schema().asNullable();
    Dataset<Row> form = BoundColumns.form(spark, columnsOfBoth);
    StructType keyType = new StructType();
    for (JsonNode by : spec.path("by")) {
      Column key = Sql.column(by.get("expr").textValue());
      keyType = keyType.add(by.get("name").textValue(), BucketPlan.typeOf(form, key));
    }
    List<Aggregate> aggregates = new ArrayList<>();
    laidOut(form, aggregates);
    SlotLayout layout = layout(keyType.size(), aggregates);
    StructType late = LateRow.type(BucketPlan.columns(form, new ArrayList<>()));
    StructType pane = PaneRow.type(keyType, layout);
    int buckets = spec.get("buckets").intValue();
    WindowTask task =
        new WindowTask(window, layout, buckets, forms.size(), keyType, pane, late);
    StructType result =
        new StructType()
            .add("pane", pane)
            .add("late", late)
            .add("report", DataTypes.StringType)
            .add("dead", DeadRow.type(form));
    Columns columns = new Columns(laidOut(form, new ArrayList<>()).schema());
    List<Operator.Input> inputs = new ArrayList<>();
    for (int side = 0; side < forms.size(); side++) {
      int at = side;
      inputs.add(
          Operator.Input.of(
              columns,
              rows -> laidOut(sides.of(at, rows), new ArrayList<>()),
              new Slicer(columns, task)));
    }
    Engine engine = window.isSliced() ? new SliceEngine(task) : new KeyEngine(task);
    return new Operator(spark, inputs, List.of(engine), buckets, result);
  }

  private SlotLayout layout(int keys, List<Aggregate> aggregates) {
    return new SlotLayout(
        aggregates, Slicer.arguments(keys), window.timestamp, window.hasSpan());
  }

  /**
   * The columns that a {@link Slicer} reads, computed once for each row; what only late rows need
   * is not written for others.
   *
   * @param aggregates takes those that are declared
   */
  private Dataset<Row> laidOut(Dataset<Row> rows, List<Aggregate> aggregates) {
    List<Column> keys = new ArrayList<>();
    for (JsonNode by : spec.path("by")) {
      keys.add(BucketPlan.key(rows, Sql.column(by.get("expr").textValue())));
    }
    List<Column> arguments = new ArrayList<>();
    Tries tries = new Tries();
    for (JsonNode each : spec.path("aggregates")) {
      aggregates.add(BucketPlan.define(rows, each, arguments, tries::value));
    }
    List<Column> inputs = BucketPlan.head(spec);
    List<Column> columns = new ArrayList<>();
    BucketPlan.columns(rows, columns);
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
    if (layout(keys.size(), aggregates).isOrdered) {
      inputs.add(BucketPlan.id());
    }
    return BucketPlan.layOut(tries.around(rows), inputs);
  }

  /** Whether a record is so old that it may be late: true of every late one, and of few others. */
  private static Column mayBeLate(List<Column> inputs, WindowSpec window) {
    Column eventTime = inputs.get(BucketPlan.EVENT_TIME_AT);
    Column watermark = inputs.get(BucketPlan.WATERMARK_AT);
    Column age = functions.unix_micros(watermark).minus(functions.unix_micros(eventTime));
    return eventTime.isNull().or(age.geq(functions.lit(Millis.toMicros(window.lateness))));
  }
}
