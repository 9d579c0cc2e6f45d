package weft.kernel.product;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import weft.kernel.hash.RecordHash;
import weft.kernel.json.Json;
import weft.kernel.spark.BoundColumns;
import weft.kernel.spark.Inputs;
import weft.kernel.spark.gate.Layers;
import weft.kernel.spark.gate.TryValue;
import weft.kernel.window.aggregate.Aggregate;
import weft.kernel.window.bucket.BucketMessage;
import weft.kernel.window.bucket.LateRow;
import weft.kernel.window.plan.BucketPlan;
import weft.kernel.window.plan.DeadRow;

/** Attaches a product to the streams of its tables: documents that have changed, and a report. */
public final class Assemble {
  private static final String CHANGE = "_change";
  private static final String STEP = "product";

  private Assemble() {}

  /**
   * The documents of a product.
   *
   * @param tables the stream of each table, with control rows among its rows
   * @param specJson the tables and nodes of the product, as {@code products/attach.py} writes them
   */
  public static Dataset<Row> attach(List<Dataset<Row>> tables, String specJson) {
    JsonNode spec = Json.parse(specJson);
    int buckets = spec.get("buckets").intValue();
    Tree tree = tree(tables, spec);
    Dataset<Row> messages = null;
    for (int table = 0; table < tables.size(); table++) {
      Dataset<Row> sent = send(tables.get(table), table, tree, spec);
      messages = messages == null ? sent : messages.union(sent);
    }
    boolean isOnHeap = BucketPlan.isOnHeap(spec);
    TreeHandle handle = new TreeHandle(specJson, tree);
    int steps = ProductEngine.steps(tree.depth());
    int together = buckets == 1 ? steps : 1;
    for (int step = 0; step < steps; step += together) {
      int next = step + together;
      ProductEngine engine = new ProductEngine(handle, tree.depth(), buckets, step, next);
      StructType form = next == steps ? BucketMessage.OUT : BucketMessage.IN;
      messages = BucketPlan.run(messages, engine, form, isOnHeap);
    }
    Dataset<Row> root = tables.get(tree.root().table);
    List<Column> ignored = new ArrayList<>();
    StructType result =
        new StructType()
            .add("row", Outlet.type(tree.root()))
            .add("late", LateRow.type(BucketPlan.columns(root, ignored)))
            .add("control", DataTypes.StringType)
            .add("dead", DeadRow.type(root));
    return BucketPlan.unpack(messages, result);
  }

  private static Dataset<Row> send(Dataset<Row> rows, int table, Tree tree, JsonNode spec) {
    JsonNode declared = spec.get("tables").get(table);
    Dataset<Row> tried = rows;
    Column dead = functions.lit(null).cast(DeadRow.type(rows));
    if (!declared.path("may_fail").isEmpty()) {
      List<Column> expressions = new ArrayList<>(List.of(functions.lit(0L)));
      declared
          .get("may_fail")
          .forEach(each -> expressions.add(Layers.column(rows, each.textValue())));
      Column error =
          functions.call_function(TryValue.NAME, expressions.toArray(new Column[0]));
      tried = rows.withColumn("_weft_tried", error);
      dead = DeadRow.of(rows, functions.col("_weft_tried.error"), STEP);
    }
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
    int keys = declared.get("key").size();
    for (JsonNode key : declared.get("key")) {
      inputs.add(BucketPlan.key(rows, Layers.column(rows, key.textValue())));
    }
    StructType columns = tree.tables().get(table).columns();
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
            columns);
    return laidOut.select(sender.column());
  }

  private static Tree tree(List<Dataset<Row>> tables, JsonNode spec) {
    SparkSession spark = tables.get(0).sparkSession();
    List<StructType> columns = new ArrayList<>();
    List<List<Node>> nodesOf = new ArrayList<>();
    for (int table = 0; table < tables.size(); table++) {
      StructType whole = tables.get(table).schema();
      StructType type = new StructType();
      for (JsonNode name : spec.get("tables").get(table).get("columns")) {
        type = type.add(name.textValue(), whole.apply(name.textValue()).dataType(), true);
      }
      columns.add(type);
      nodesOf.add(new ArrayList<>());
    }
    JsonNode declared = spec.get("nodes");
    Node[] nodes = new Node[declared.size()];
    for (int number = nodes.length - 1; number >= 0; number--) { // parts come before their parents
      int table = declared.get(number).get("table").intValue();
      Dataset<Row> form = BoundColumns.form(spark, columns.get(table));
      nodes[number] = node(number, declared.get(number), form, nodes);
      nodesOf.get(table).add(0, nodes[number]);
    }
    List<Tree.Table> found = new ArrayList<>();
    for (int table = 0; table < columns.size(); table++) {
      found.add(new Tree.Table(columns.get(table), List.copyOf(nodesOf.get(table))));
    }
    return new Tree(found, List.of(nodes));
  }

  private static Node node(int number, JsonNode spec, Dataset<Row> form, Node[] nodes) {
    List<Column> columns = new ArrayList<>(List.of(functions.lit(0L)));
    columns.add(
        spec.hasNonNull("filter")
            ? Layers.column(form, spec.get("filter").textValue())
            : functions.lit(true));
    spec.get("link").forEach(each -> columns.add(key(form, each)));
    boolean[] isFalling = new boolean[spec.get("order").size()];
    for (int at = 0; at < isFalling.length; at++) {
      isFalling[at] = spec.get("order").get(at).get("falling").booleanValue();
      columns.add(Layers.column(form, spec.get("order").get(at).get("expr").textValue()));
    }
    List<Aggregate> aggregates = new ArrayList<>();
    for (JsonNode each : spec.get("aggregates")) {
      aggregates.add(BucketPlan.define(form, each, columns));
    }
    spec.get("fields").forEach(each -> columns.add(Layers.column(form, each.textValue())));
    int own = columns.size() - 2 - spec.get("link").size();
    int[] partLinks = new int[spec.get("part_links").size()];
    for (int part = 0; part < partLinks.length; part++) {
      JsonNode links = spec.get("part_links").get(part);
      partLinks[part] = links.size();
      links.forEach(each -> columns.add(key(form, each)));
    }
    int[] parts = new int[spec.get("parts").size()];
    for (int part = 0; part < parts.length; part++) {
      parts[part] = spec.get("parts").get(part).intValue();
    }
    Column tried = functions.call_function(TryValue.NAME, columns.toArray(new Column[0]));
    BoundColumns bound = BoundColumns.of(form, List.of(tried.as("tried")));
    Totals totals = aggregates.isEmpty() ? null : new Totals(aggregates, isFalling.length);
    StructType values = (StructType) bound.type().fields()[0].dataType();
    int ownAt = 2 + 1 + spec.get("link").size();
    List<Node.Output> outputs = new ArrayList<>();
    StructType type = totals == null ? new StructType() : totals.type();
    for (JsonNode each : spec.get("outputs")) {
      Node.Output output = output(each, isFalling.length, parts, nodes);
      outputs.add(output);
      type = type.add(output.name(), typeOf(output, values, ownAt, parts, nodes), true);
    }
    return new Node(
        number,
        spec.get("table").intValue(),
        spec.get("parent").intValue(),
        spec.get("place").intValue(),
        spec.get("level").intValue(),
        spec.get("many").booleanValue(),
        spec.get("required").booleanValue(),
        spec.hasNonNull("limit") ? spec.get("limit").intValue() : Integer.MAX_VALUE,
        isFalling,
        outputs,
        totals,
        parts,
        type,
        bound,
        spec.get("link").size(),
        own,
        partLinks);
  }

  private static Node.Output output(JsonNode spec, int ordered, int[] parts, Node[] nodes) {
    String name = spec.get("name").textValue();
    int part = spec.get("part").intValue();
    if (part < 0) {
      return new Node.Output(name, ordered + spec.get("own").intValue(), -1, -1);
    }
    int field =
        spec.hasNonNull("field")
            ? nodes[parts[part]].type.fieldIndex(spec.get("field").textValue())
            : -1;
    return new Node.Output(name, -1, part, field);
  }

  private static DataType typeOf(
      Node.Output output, StructType values, int ownAt, int[] parts, Node[] nodes) {
    if (output.part() < 0) {
      return values.fields()[ownAt + output.own()].dataType();
    }
    Node child = nodes[parts[output.part()]];
    return output.field() < 0
        ? child.partType()
        : child.type.fields()[output.field()].dataType();
  }

  private static Column key(Dataset<Row> form, JsonNode text) {
    return BucketPlan.key(form, Layers.column(form, text.textValue()));
  }
}
