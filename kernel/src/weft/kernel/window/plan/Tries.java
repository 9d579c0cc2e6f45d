package weft.kernel.window.plan;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import weft.kernel.spark.gate.TryValue;

/**
 * The arguments of aggregates that may fail: all are tried together, beside the columns of the
 * stream.
 */
final class Tries {
  private static final String COLUMN = "_weft_tried";

  private final List<Column> tried = new ArrayList<>(List.of(functions.lit(0L)));

  /** The value of an expression once it was tried. */
  Column value(Column expression) {
    tried.add(expression);
    return functions.col(COLUMN + ".v" + (tried.size() - 2));
  }

  /** Why they have no values, or null. */
  Column error() {
    return functions.col(COLUMN + ".error");
  }

  boolean isEmpty() {
    return tried.size() == 1;
  }

  /** The rows with what was tried. */
  Dataset<Row> around(Dataset<Row> rows) {
    return isEmpty()
        ? rows
        : rows.withColumn(
            COLUMN, functions.call_function(TryValue.NAME, tried.toArray(new Column[0])));
  }
}
