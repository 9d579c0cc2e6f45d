package weft.kernel.change;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import weft.kernel.bytes.Lent;
import weft.kernel.hash.RecordHash;
import weft.kernel.json.Json;
import weft.kernel.spark.BoundColumns;
import weft.kernel.spark.Inputs;
import weft.kernel.spark.gate.Layers;
import weft.kernel.spark.gate.TryValue;
import weft.kernel.window.bucket.BucketMessage;
import weft.kernel.window.bucket.LateRow;
import weft.kernel.window.plan.BucketPlan;
import weft.kernel.window.plan.DeadRow;

/** Attaches a plan to the streams of its tables: results that have changed, and a report. */
public final class Attach {
  public static final String CHANGE = "_change";

  private Attach() {}

  /** The columns that are needed of each table, as a form that expressions can be resolved over. */
  public static List<Dataset<Row>> forms(List<Dataset<Row>> tables, JsonNode spec) {
    List<Dataset<Row>> forms = new ArrayList<>();
    for (int table = 0; table < tables.size(); table++) {
      StructType whole = tables.get(table).schema();
      StructType type = new StructType();
      for (JsonNode name : spec.get("tables").get(table).get("columns")) {
        type = type.add(name.textValue(), whole.apply(name.textValue()).dataType(), true);
      }
      forms.add(BoundColumns.form(tables.get(table).sparkSession(), type));
    }
    return forms;
  }

  /**
   * The results of a plan.
   *
   * @param tables the stream of each table, with control rows among its rows
   * @param specJson what the plan was made of, as {@code products/attach.py} writes it
   */
  public static Dataset<Row> run(List<Dataset<Row>> tables, String specJson, Plan plan) {
    JsonNode spec = Json.parse(specJson);
    int buckets = spec.get("buckets").intValue();
    Dataset<Row> messages = null;
    for (int table = 0; table < tables.size(); table++) {
      Dataset<Row> sent = send(tables.get(table), table, plan, spec);
      messages = messages == null ? sent : messages.union(sent);
    }
    boolean isOnHeap = BucketPlan.isOnHeap(spec);
    Lent<Plan> handle = new Lent<>(specJson, plan);
    int steps = ChangeEngine.steps(plan.depth());
    int together = buckets == 1 ? steps : 1;
    int most = spec.get("at_once").intValue();
    for (int step = 0; step < steps; step += together) {
      int next = step + together;
      Boundaries held = step == 0 ? Boundaries.of(spec) : null;
      ChangeEngine engine =
          new ChangeEngine(handle, plan.depth(), buckets, step, next, held, most);
      StructType form = next == steps ? BucketMessage.OUT : BucketMessage.IN;
      messages = BucketPlan.run(messages, engine, form, isOnHeap);
    }
    Dataset<Row> first = tables.get(0);
    List<Column> ignored = new ArrayList<>();
    StructType result =
        new StructType()
            .add("row", Outlet.type(plan.result()))
            .add("late", LateRow.type(BucketPlan.columns(first, ignored)))
            .add("control", DataTypes.StringType)
            .add("dead", DeadRow.type(first));
    return BucketPlan.unpack(messages, result);
  }

  private static Dataset<Row> send(Dataset<Row> rows, int table, Plan plan, JsonNode spec) {
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
                functions.col(RecordHash.CONTROL),
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
    int keys = declared.get("key").size();
    for (JsonNode key : declared.get("key")) {
      inputs.add(BucketPlan.key(rows, Layers.column(rows, key.textValue())));
    }
    StructType columns = plan.tables().get(table).columns();
    for (String name : columns.fieldNames()) {
      inputs.add(rows.col("`" + name.replace("`", "``") + "`"));
    }
    int buckets = spec.get("buckets").intValue();
    Dataset<Row> laidOut = BucketPlan.layOut(tried, inputs);
    TableRows sender =
        new TableRows(
            Inputs.of(BucketPlan.columns(laidOut)),
            spec.toString(),
            buckets,
            table,
            keys,
            columns,
            held != null);
    return laidOut.select(sender.column());
  }
}
