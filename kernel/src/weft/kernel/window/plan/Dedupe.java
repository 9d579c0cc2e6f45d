package weft.kernel.window.plan;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import weft.kernel.json.Json;
import weft.kernel.spark.Inputs;
import weft.kernel.spark.gate.Sql;
import weft.kernel.window.bucket.DedupeEngine;
import weft.kernel.window.bucket.LateRow;

/**
 * Drops records whose key was seen within a time: rows that are kept, late rows, and a report per
 * bucket.
 */
public final class Dedupe {
  private Dedupe() {}

  /** Attaches deduplication to the rows of a stream with control rows among them. */
  public static Dataset<Row> attach(Dataset<Row> rows, String specJson) {
    JsonNode spec = Json.parse(specJson);
    long within = spec.get("within_ms").longValue();
    int buckets = spec.get("buckets").intValue();
    List<Column> inputs = BucketPlan.head(spec);
    List<Column> keys = new ArrayList<>();
    spec.get("by")
        .forEach(each -> keys.add(BucketPlan.key(rows, Sql.column(each.get("expr").textValue()))));
    inputs.addAll(keys);
    inputs.add(Sql.column(BucketPlan.WEFT + ".at").cast(DataTypes.TimestampType));
    StructType stream = BucketPlan.columns(rows, inputs);
    inputs.add(BucketPlan.id());
    StructType late = LateRow.type(stream);
    StructType result =
        new StructType()
            .add("row", stream)
            .add("late", late)
            .add("control", DataTypes.StringType)
            .add("dead", DeadRow.type(rows));
    Shipper shipper = new Shipper(Inputs.of(inputs), late, specJson, buckets, keys.size(), within);
    return BucketPlan.run(
        rows, shipper, new DedupeEngine(buckets, within), result, BucketPlan.isOnHeap(spec));
  }
}
