package weft.kernel.window;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import weft.kernel.gate.Sql;

/**
 * Drops records whose key was seen within a time: rows that are kept, late rows, and a report per
 * bucket.
 */
public final class Dedupe {
  private Dedupe() {}

  /** Attaches deduplication to the rows of a stream with control rows among them. */
  public static Dataset<Row> attach(Dataset<Row> rows, String specJson) {
    JsonNode spec = Plan.parse(specJson);
    long within = spec.get("within_ms").longValue();
    int buckets = spec.get("buckets").intValue();
    List<Column> inputs = Plan.head(spec);
    List<Column> keys = new ArrayList<>();
    spec.get("by")
        .forEach(each -> keys.add(Plan.key(rows, Sql.column(each.get("expr").textValue()))));
    inputs.addAll(keys);
    inputs.add(Sql.column(Plan.WEFT + ".at").cast(DataTypes.TimestampType));
    StructType stream = Plan.columns(rows, inputs);
    inputs.add(Plan.id());
    StructType late = LateRow.type(stream);
    StructType result =
        new StructType()
            .add("row", stream)
            .add("late", late)
            .add("control", DataTypes.StringType)
            .add("dead", DeadRow.type(rows));
    Shipper shipper =
        new Shipper(Plan.expressions(inputs), late, specJson, buckets, keys.size(), within);
    return Plan.run(rows, shipper, new DedupeEngine(buckets, within), result, Plan.isOnHeap(spec));
  }
}
