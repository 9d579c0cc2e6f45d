package weft.kernel.change;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import weft.kernel.bytes.Lent;
import weft.kernel.hash.RecordHash;
import weft.kernel.operator.Columns;
import weft.kernel.operator.Operator;
import weft.kernel.spark.BoundColumns;
import weft.kernel.spark.gate.Layers;
import weft.kernel.spark.gate.TryValue;
import weft.kernel.window.bucket.LateRow;
import weft.kernel.window.plan.BucketPlan;
import weft.kernel.window.plan.DeadRow;

/** Makes an operator of a plan over the streams of its tables: results that have changed. */
public final class Attach {
  public static final String CHANGE = "_change";

  private Attach() {}

  /** Rows of the streams of tables, none of them: what expressions are resolved over. */
  public static List<Dataset<Row>> streams(SparkSession spark, List<String> schemas) {
    List<Dataset<Row>> streams = new ArrayList<>();
    schemas.forEach(schema -> streams.add(BoundColumns.form(spark, schema)));
    return streams;
  }

  /** The columns that are needed of each table, as a form that expressions can be resolved over. */
  public static List<Dataset<Row>> forms(List<Dataset<Row>> streams, JsonNode spec) {
    List<Dataset<Row>> forms = new ArrayList<>();
    for (int table = 0; table < streams.size(); table++) {
      StructType whole = streams.get(table).schema();
      StructType type = new StructType();
      for (JsonNode name : spec.get("tables").get(table).get("columns")) {
        type = type.add(name.textValue(), whole.apply(name.textValue()).dataType(), true);
      }
      forms.add(BoundColumns.form(streams.get(table).sparkSession(), type));
    }
    return forms;
  }

  /**
   * What keeps up the results of a plan.
   *
   * @param streams of the tables
   * @param spec what the plan was made of, as {@code products/attach.py} writes it
   */
  public static Operator run(List<Dataset<Row>> streams, JsonNode spec, Plan plan) {
    int buckets = spec.get("buckets").intValue();
    List<Operator.Input> inputs = new ArrayList<>();
    for (int table = 0; table < streams.size(); table++) {
      inputs.add(input(streams.get(table), table, plan, spec));
    }
    Lent<Plan> handle = new Lent<>(UUID.randomUUID().toString(), plan);
    int steps = ChangeEngine.steps(plan.depth());
    int together = buckets == 1 ? steps : 1;
    int most = spec.get("at_once").intValue();
    List<ChangeEngine> engines = new ArrayList<>();
    for (int step = 0; step < steps; step += together) {
      Boundaries held = step == 0 ? Boundaries.of(spec) : null;
      engines.add(
          new ChangeEngine(handle, plan.depth(), buckets, step, step + together, held, most));
    }
    Dataset<Row> first = streams.get(0);
    StructType result =
        new StructType()
            .add("row", Outlet.type(plan.result()))
            .add("late", LateRow.type(BucketPlan.columns(first, new ArrayList<>())))
            .add("report", DataTypes.StringType)
            .add("dead", DeadRow.type(first));
    return new Operator(first.sparkSession(), inputs, engines, buckets, result);
  }

  private static Operator.Input input(
      Dataset<Row> stream, int table, Plan plan, JsonNode spec) {
    StructType kept = plan.tables().get(table).columns();
    int keys = spec.get("tables").get(table).get("key").size();
    Columns columns = new Columns(laidOut(stream, table, kept, spec).schema());
    int buckets = spec.get("buckets").intValue();
    boolean holds = Boundaries.of(spec) != null;
    return Operator.Input.of(
        columns,
        rows -> laidOut(rows, table, kept, spec),
        new TableRows(columns, buckets, table, keys, kept, holds));
  }

  /** The columns that {@link TableRows} reads of the rows of a table's stream. */
  private static Dataset<Row> laidOut(
      Dataset<Row> rows, int table, StructType kept, JsonNode spec) {
    JsonNode declared = spec.get("tables").get(table);
    Dataset<Row> tried = rows;
    Column failed = null;
    if (!declared.path("may_fail").isEmpty()) {
      List<Column> expressions = new ArrayList<>(List.of(functions.lit(0L)));
      declared
          .get("may_fail")
          .forEach(each -> expressions.add(Layers.column(rows, each.textValue())));
      Column error =
          functions.call_function(TryValue.NAME, expressions.toArray(new Column[0]));
      tried = rows.withColumn("_weft_tried", error);
      failed = functions.col("_weft_tried.error");
    }
    Boundaries held = Boundaries.of(spec);
    if (held != null && table != held.table()) {
      failed = held.judged(failed);
    }
    Column dead =
        failed == null
            ? functions.lit(null).cast(DeadRow.type(rows))
            : DeadRow.of(rows, failed, spec.get("step").textValue());
    List<Column> inputs =
        new ArrayList<>(
            List.of(
                functions.col(RecordHash.WEFT + ".knot"),
                functions.col(CHANGE + ".op"),
                functions.col(CHANGE + ".position"),
                functions.col(CHANGE + ".snapshot"),
                functions.col(CHANGE + ".kept"),
                BucketPlan.id(),
                dead));
    if (held != null) {
      inputs.add(functions.col(CHANGE + ".transaction"));
      inputs.add(functions.col(RecordHash.WEFT + ".partition"));
    }
    for (JsonNode key : declared.get("key")) {
      inputs.add(BucketPlan.key(rows, Layers.column(rows, key.textValue())));
    }
    for (String name : kept.fieldNames()) {
      inputs.add(rows.col("`" + name.replace("`", "``") + "`"));
    }
    return BucketPlan.layOut(tried, inputs);
  }
}
