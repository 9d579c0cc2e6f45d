package weft.kernel.spine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import weft.kernel.json.Json;
import weft.kernel.spark.FrameCode;
import weft.kernel.spark.FrameRows;
import weft.kernel.spark.ParquetFiles;

/**
 * Writes a woven batch to all its streams in one pass, hashing and counting on the way. Called by
 * the batch's driver.
 */
public final class Spine {
  private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9._-]+");

  private Spine() {}

  /**
   * Writes every non-null struct of each output column to files in that output's folder.
   *
   * @param frame one nullable struct column per output, an int column of verdicts, optionally a
   *     string column of what an operator reports
   * @param specJson {@code {"prefix": …, "outputs": [{"column": …, "path": …, "hash": …,
   *     "watched": […]}, …],
   *     "verdict": …, "reports": …, "times": {"partition": …, "event_time": …, "latest_ms": …},
   *     "stamp": {"knot": …, "at_ms": …, "watermark_ms": …}, "hashed": …}}; rows and files are
   *     hashed unless it says that they are not, which is for measuring alone
   * @return per output its rows, bytes, hash and files; how its watched columns look; how often
   *     each verdict came; per source partition its event times; reports
   */
  public static String write(Dataset<Row> frame, String specJson) throws IOException {
    StructType schema = frame.schema();
    SpineTask task = task(frame.sparkSession(), schema, specJson);
    FrameRows rows = FrameRows.of(frame);
    return total(task, rows.areNone() ? List.of() : rows.collect(task));
  }

  /** The same for a frame that is the rows of a batch under code that was made before. */
  public static String write(FrameCode code, Dataset<Row> batch, String specJson)
      throws IOException {
    SpineTask task = task(batch.sparkSession(), code.schema(), specJson);
    return total(task, code.collect(batch, task));
  }

  private static String total(SpineTask task, List<SpineReport> reports) {
    SpineReport total = new SpineReport(task.outputs().size());
    reports.forEach(total::add);
    return total.toJson(task.outputs()).toString();
  }

  private static SpineTask task(SparkSession spark, StructType schema, String specJson)
      throws IOException {
    ObjectNode spec = Json.parseObject(specJson);
    String prefix = spec.required("prefix").asText();
    if (!PREFIX.matcher(prefix).matches()) {
      throw new IllegalArgumentException("File names cannot start with '" + prefix + "'.");
    }
    List<OutputSpec> outputs = new ArrayList<>();
    for (JsonNode output : spec.required("outputs")) {
      outputs.add(prepare(spark, schema, output, spec.path("hashed").asBoolean(true)));
    }
    return new SpineTask(
        prefix,
        outputs,
        schema,
        ordinal(schema, spec.path("verdict").asText(null)),
        ordinal(schema, spec.path("reports").asText(null)),
        TimeSpec.parse(spec.path("times"), schema),
        Stamp.parse(spec.path("stamp")));
  }

  private static OutputSpec prepare(
      SparkSession spark, StructType schema, JsonNode output, boolean isHashed)
      throws IOException {
    String column = output.required("column").asText();
    int ordinal = schema.fieldIndex(column);
    StructType rows = ((StructType) schema.fields()[ordinal].dataType()).asNullable();
    return new OutputSpec(
        column,
        ordinal,
        output.required("path").asText(),
        rows,
        ParquetFiles.of(spark, rows),
        ordinal(schema, output.path("hash").asText(null)),
        isHashed,
        watched(rows, output.path("watched")));
  }

  private static ArrayList<WatchedColumn> watched(StructType rows, JsonNode names) {
    ArrayList<WatchedColumn> columns = new ArrayList<>();
    names.forEach(name -> columns.add(WatchedColumn.of(rows, name.asText())));
    return columns;
  }

  private static int ordinal(StructType schema, String column) {
    return column == null ? -1 : schema.fieldIndex(column);
  }
}
