package weft.kernel.query;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import weft.kernel.change.Attach;
import weft.kernel.change.Plan;
import weft.kernel.change.Station;
import weft.kernel.change.View;
import weft.kernel.json.Json;
import weft.kernel.operator.Operator;

/** Makes an operator of a query over the streams that it reads: results that have changed. */
public final class Query {
  private Query() {}

  /**
   * What keeps up the results of a join, of groups, or of the first rows.
   *
   * @param schemas those of the streams, as JSON
   * @param specJson the query, as {@code queries/compiled.py} writes it
   */
  public static Operator attach(SparkSession spark, List<String> schemas, String specJson) {
    JsonNode spec = Json.parse(specJson);
    List<Dataset<Row>> streams = Attach.streams(spark, schemas);
    JsonNode query = spec.get("query");
    boolean isGroup = query.get("type").textValue().equals("group");
    int heart = isGroup ? 0 : 1; // the results of a group are its own
    List<Dataset<Row>> forms = Attach.forms(streams, spec);
    List<View> views = new ArrayList<>();
    List<Plan.Table> found = new ArrayList<>();
    for (int table = 0; table < forms.size(); table++) {
      View view = View.of(heart, new int[0], query.get("views").get(table), forms.get(table));
      views.add(view);
      found.add(new Plan.Table(forms.get(table).schema(), List.of(view)));
    }
    Plan plan = isGroup ? group(query, views.get(0), found) : rows(query, views, found);
    return Attach.run(streams, spec, plan);
  }

  private static Plan group(JsonNode query, View view, List<Plan.Table> tables) {
    GroupStation station = new GroupStation(view);
    StructType type = new StructType();
    for (int at = 0; at < station.type().size(); at++) {
      String name = query.get("columns").get(at).get("name").textValue();
      type = type.add(name, station.type().fields()[at].dataType(), true);
    }
    return new Plan(tables, List.of(station), result(query, type));
  }

  private static Plan rows(JsonNode query, List<View> views, List<Plan.Table> tables) {
    View left = views.get(0);
    View right = views.size() > 1 ? views.get(1) : null;
    StructType type = new StructType();
    List<OutRow.Column> columns = new ArrayList<>();
    for (JsonNode each : query.get("columns")) {
      OutRow.Column column =
          new OutRow.Column(place(each, "left", left), place(each, "right", right));
      columns.add(column);
      type = type.add(each.get("name").textValue(), typeOf(column, left, right), true);
    }
    Plan.Result result = result(query, type);
    OutRow out = new OutRow(result, columns, left, right);
    Station heart =
        right == null
            ? new TopStation(left, query.get("limit").intValue(), out)
            : new JoinStation(kind(query), left.linkType().size(), out);
    return new Plan(tables, List.of(new Results(), heart), result);
  }

  private static JoinKind kind(JsonNode query) {
    return JoinKind.valueOf(query.get("kind").textValue().toUpperCase(Locale.ROOT));
  }

  /** Where a field stands among the own values of a row; -1 where the side has none for it. */
  private static int place(JsonNode column, String side, View view) {
    int field = column.path(side).asInt(-1);
    return field < 0 ? -1 : view.ordered() + field;
  }

  private static DataType typeOf(OutRow.Column column, View left, View right) {
    if (column.left() >= 0) {
      return left.ownType().fields()[column.left()].dataType();
    }
    return column.right() >= 0
        ? right.ownType().fields()[column.right()].dataType()
        : DataTypes.StringType;
  }

  private static Plan.Result result(JsonNode query, StructType type) {
    int[] keyAt = new int[query.get("key").size()];
    StructType key = new StructType();
    for (int at = 0; at < keyAt.length; at++) {
      keyAt[at] = query.get("key").get(at).intValue();
      key = key.add(type.fields()[keyAt[at]]);
    }
    return new Plan.Result(type, key, keyAt);
  }
}
