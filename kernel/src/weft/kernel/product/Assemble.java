package weft.kernel.product;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import weft.kernel.change.Attach;
import weft.kernel.change.Plan;
import weft.kernel.change.View;
import weft.kernel.json.Json;
import weft.kernel.operator.Operator;

/** Makes an operator of a product over the streams of its tables: documents that have changed. */
public final class Assemble {
  private Assemble() {}

  /**
   * What keeps up the documents of a product.
   *
   * @param schemas those of the streams of its tables, as JSON
   * @param specJson the tables and nodes of the product, as {@code products/attach.py} writes them
   */
  public static Operator attach(SparkSession spark, List<String> schemas, String specJson) {
    JsonNode spec = Json.parse(specJson);
    List<Dataset<Row>> streams = Attach.streams(spark, schemas);
    List<Dataset<Row>> forms = Attach.forms(streams, spec);
    List<List<View>> views = new ArrayList<>();
    forms.forEach(form -> views.add(new ArrayList<>()));
    JsonNode declared = spec.get("nodes");
    Node[] nodes = new Node[declared.size()];
    for (int number = nodes.length - 1; number >= 0; number--) { // parts come before their parents
      int table = declared.get(number).get("table").intValue();
      boolean isAlone = spec.get("buckets").intValue() == 1;
      nodes[number] = node(number, declared.get(number), forms.get(table), nodes, isAlone);
      views.get(table).add(0, nodes[number].view());
    }
    List<Plan.Table> found = new ArrayList<>();
    for (int table = 0; table < forms.size(); table++) {
      found.add(new Plan.Table(forms.get(table).schema(), List.copyOf(views.get(table))));
    }
    Tree tree = new Tree(List.of(nodes));
    List<PartStation> stations =
        IntStream.range(0, nodes.length).mapToObj(each -> new PartStation(tree, each)).toList();
    StructType key = tree.root().view().linkType();
    int[] keyAt = IntStream.range(0, key.size()).toArray();
    Plan.Result result = new Plan.Result(tree.root().type(), key, keyAt);
    return Attach.run(streams, spec, new Plan(found, stations, result));
  }

  private static Node node(
      int number, JsonNode spec, Dataset<Row> form, Node[] nodes, boolean isAlone) {
    int[] parts = new int[spec.get("parts").size()];
    boolean[] lookedUp = new boolean[parts.length];
    boolean looksUp = false;
    for (int part = 0; part < parts.length; part++) {
      parts[part] = spec.get("parts").get(part).intValue();
      lookedUp[part] = nodes[parts[part]].isLookedUp();
      looksUp |= lookedUp[part];
    }
    View view = View.of(number, parts, spec, form);
    Totals totals =
        view.aggregates().isEmpty() ? null : new Totals(view.aggregates(), view.ordered());
    List<Node.Output> outputs = new ArrayList<>();
    StructType type = totals == null ? new StructType() : totals.type();
    for (JsonNode each : spec.get("outputs")) {
      Node.Output output = output(each, view.ordered(), parts, nodes);
      outputs.add(output);
      type = type.add(output.name(), typeOf(output, view.ownType(), parts, nodes), true);
    }
    boolean isMany = spec.get("many").booleanValue();
    boolean isLong = isMany && totals == null || hasList(type) || looksUp;
    int parent = spec.get("parent").intValue();
    return new Node(
        number,
        parent,
        spec.get("place").intValue(),
        spec.get("level").intValue(),
        isMany,
        spec.get("required").booleanValue(),
        spec.hasNonNull("limit") ? spec.get("limit").intValue() : Integer.MAX_VALUE,
        view,
        List.copyOf(outputs),
        totals,
        parts,
        type,
        isAlone && parent >= 0 && isLong,
        lookedUp);
  }

  private static boolean hasList(StructType type) {
    return Arrays.stream(type.fields())
        .map(StructField::dataType)
        .anyMatch(
            column ->
                column instanceof ArrayType
                    || column instanceof StructType nested && hasList(nested));
  }

  private static Node.Output output(JsonNode spec, int ordered, int[] parts, Node[] nodes) {
    String name = spec.get("name").textValue();
    int part = spec.get("part").intValue();
    if (part < 0) {
      return new Node.Output(name, ordered + spec.get("own").intValue(), -1, -1);
    }
    int field =
        spec.hasNonNull("field")
            ? nodes[parts[part]].type().fieldIndex(spec.get("field").textValue())
            : -1;
    return new Node.Output(name, -1, part, field);
  }

  private static DataType typeOf(
      Node.Output output, StructType own, int[] parts, Node[] nodes) {
    if (output.part() < 0) {
      return own.fields()[output.own()].dataType();
    }
    Node child = nodes[parts[output.part()]];
    return output.field() < 0
        ? child.partType()
        : child.type().fields()[output.field()].dataType();
  }
}
