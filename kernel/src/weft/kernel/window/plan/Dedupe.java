package weft.kernel.window.plan;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import weft.kernel.json.Json;
import weft.kernel.operator.Columns;
import weft.kernel.operator.Operator;
import weft.kernel.spark.BoundColumns;
import weft.kernel.spark.gate.Sql;
import weft.kernel.window.bucket.DedupeEngine;
import weft.kernel.window.bucket.LateRow;

/**
 * Drops records whose key was seen within a time: rows that are kept, late rows, and a report per
 * bucket.
 */
public final class Dedupe {
  private Dedupe() {}

  /**
   * Deduplication of rows of a schema.
   *
   * @param schema that of the stream, as JSON
   */
  public static Operator attach(SparkSession spark, List<String> schema, String specJson) {
    JsonNode spec = Json.parse(specJson);
    Dataset<Row> form = BoundColumns.form(spark, schema.get(0));
    long within = spec.get("within_ms").longValue();
    int buckets = spec.get("buckets").intValue();
    StructType stream = BucketPlan.columns(form, new ArrayList<>());
    StructType late = LateRow.type(stream);
    StructType result =
        new StructType()
            .add("row", stream)
            .add("late", late)
            .add("report", DataTypes.StringType)
            .add("dead", DeadRow.type(form));
    Columns columns = new Columns(laidOut(form, spec).schema());
    Shipper shipper = new Shipper(columns, late, buckets, spec.get("by").size(), within);
    Operator.Input input = Operator.Input.of(columns, rows -> laidOut(rows, spec), shipper);
    return new Operator(
        spark, List.of(input), List.of(new DedupeEngine(within)), buckets, result);
  }

  private static Dataset<Row> laidOut(Dataset<Row> rows, JsonNode spec) {
    List<Column> inputs = BucketPlan.head(spec);
    for (JsonNode by : spec.get("by")) {
      inputs.add(BucketPlan.key(rows, Sql.column(by.get("expr").textValue())));
    }
    inputs.add(Sql.column(BucketPlan.WEFT + ".at").cast(DataTypes.TimestampType));
    BucketPlan.columns(rows, inputs);
    inputs.add(BucketPlan.id());
    return BucketPlan.layOut(rows, inputs);
  }
}
