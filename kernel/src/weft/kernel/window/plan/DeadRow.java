package weft.kernel.window.plan;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** A record whose values cannot be computed, as the letter that tells of it. */
public final class DeadRow {
  private DeadRow() {}

  /** The columns of a dead letter, as every stage of a pipeline writes them. */
  public static StructType type(Dataset<Row> rows) {
    return new StructType()
        .add("raw", DataTypes.BinaryType)
        .add("position", DataTypes.StringType)
        .add("step", DataTypes.StringType)
        .add("reason", DataTypes.StringType)
        .add("record", DataTypes.StringType)
        .add(BucketPlan.WEFT, rows.schema().apply(BucketPlan.WEFT).dataType());
  }

  /** The letter of a record that has failed for a reason, and null of one that has not. */
  public static Column of(Dataset<Row> rows, Column reason, String step) {
    List<Column> columns = new ArrayList<>();
    BucketPlan.columns(rows, columns);
    columns.remove(columns.size() - 1);
    Column letter =
        functions.struct(
            functions.lit(null).cast(DataTypes.BinaryType).as("raw"),
            BucketPlan.id().as("position"),
            functions.lit(step).as("step"),
            reason.as("reason"),
            functions.call_function("weft_record", columns.toArray(new Column[0])).as("record"),
            functions.col(BucketPlan.WEFT));
    return functions.when(reason.isNotNull(), letter);
  }
}
