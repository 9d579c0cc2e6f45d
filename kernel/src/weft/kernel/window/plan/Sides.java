package weft.kernel.window.plan;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * The rows of two streams that are joined, in one form: their keys, the row under the name of its
 * side, and which side it is. Those of a stream by itself stay as they are.
 *
 * <p>Keys are of the type that those of both sides have in common, as in a union of SQL: an integer
 * and a long of the same value are one key.
 */
final class Sides {
  private static final List<String> NAMES = List.of("left", "right");

  /** The keys of each side; none of a stream by itself. */
  private final List<List<String>> keys = new ArrayList<>();

  private final List<StructType> rows = new ArrayList<>();

  private StructType types = new StructType();

  private Sides() {}

  /** What a declaration says of them, for streams of these forms. */
  static Sides of(JsonNode spec, List<Dataset<Row>> forms) {
    Sides sides = new Sides();
    for (JsonNode declared : spec.path("sides")) {
      List<String> names = new ArrayList<>();
      declared.forEach(name -> names.add(name.textValue()));
      sides.keys.add(names);
    }
    forms.forEach(form -> sides.rows.add(own(form)));
    if (!sides.keys.isEmpty()) {
      sides.types = sides.keysOf(0, forms.get(0)).union(sides.keysOf(1, forms.get(1))).schema();
    }
    return sides;
  }

  private Dataset<Row> keysOf(int side, Dataset<Row> form) {
    return form.select(keys.get(side).stream().map(Sides::named).toArray(Column[]::new));
  }

  private static StructType own(Dataset<Row> form) {
    StructType type = new StructType();
    for (StructField field : form.schema().fields()) {
      if (!field.name().equals(BucketPlan.WEFT)) {
        type = type.add(field);
      }
    }
    return type;
  }

  /** The rows of one side in the form of both. */
  Dataset<Row> of(int side, Dataset<Row> frame) {
    if (keys.isEmpty()) {
      return frame;
    }
    List<Column> columns = new ArrayList<>();
    for (String key : keys.get(side)) {
      int at = columns.size();
      columns.add(named(key).cast(types.fields()[at].dataType()).as("_key_" + at));
    }
    for (int each = 0; each < NAMES.size(); each++) {
      Column[] own =
          List.of(rows.get(each).fieldNames()).stream().map(Sides::named).toArray(Column[]::new);
      Column row =
          each == side
              ? functions.struct(own)
              : functions.lit(null).cast(rows.get(each));
      columns.add(row.as(NAMES.get(each)));
    }
    columns.add(functions.lit(side).as("_input"));
    columns.add(functions.col(BucketPlan.WEFT));
    return frame.select(columns.toArray(new Column[0]));
  }

  private static Column named(String column) {
    return functions.col("`" + column.replace("`", "``") + "`");
  }
}
