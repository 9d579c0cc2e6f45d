package weft.kernel;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.runtime.AbstractFunction0;

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
   *     string column of control values
   * @param specJson {@code {"prefix": …, "outputs": [{"column": …, "path": …}, …], "verdict": …,
   *     "control": …, "times": {"partition": …, "event_time": …, "latest_ms": …}, "stamp": {"knot":
   *     …, "at_ms": …, "watermark_ms": …}}}
   * @return per output its rows, bytes, hash and files; how often each verdict came; per source
   *     partition its event times; control values
   */
  public static String write(Dataset<Row> frame, String specJson) throws IOException {
    ObjectNode spec = Json.parseObject(specJson);
    String prefix = spec.required("prefix").asText();
    if (!PREFIX.matcher(prefix).matches()) {
      throw new IllegalArgumentException("File names cannot start with '" + prefix + "'.");
    }
    StructType schema = frame.schema();
    SparkSession spark = (SparkSession) frame.sparkSession();
    List<OutputSpec> outputs = new ArrayList<>();
    for (JsonNode output : spec.required("outputs")) {
      outputs.add(prepare(spark, schema, output));
    }
    SpineTask task =
        new SpineTask(
            prefix,
            outputs,
            schema,
            ordinal(schema, spec.path("verdict").asText(null)),
            ordinal(schema, spec.path("control").asText(null)),
            TimeSpec.parse(spec.path("times"), schema),
            Stamp.parse(spec.path("stamp")));
    QueryExecution query = execution(frame);
    SpineReport total = new SpineReport(outputs.size());
    if (!isEmpty(query.analyzed())) {
      tracked(query, () -> query.toRdd().toJavaRDD().mapPartitionsWithIndex(task, true).collect())
          .forEach(total::add);
    }
    return total.toJson(outputs).toString();
  }

  /** The number of rows and the sum of their hashes, however they are ordered and partitioned. */
  public static String fingerprint(Dataset<Row> rows) {
    QueryExecution query = execution(rows);
    FingerprintTask task = new FingerprintTask(rows.schema());
    long count = 0;
    HashSum hash = new HashSum();
    for (FingerprintTask.Sum sum :
        tracked(query, () -> query.toRdd().toJavaRDD().mapPartitions(task).collect())) {
      count += sum.rows();
      hash.add(sum.hash());
    }
    return Json.object().put("rows", count).put("hash", hash.hex()).toString();
  }

  /**
   * The number of rows and the sum of their hashes of each file.
   *
   * @param rows the name of the file and the row as a struct
   * @return {@code {file: {"rows": …, "hash": …}}}
   */
  public static String fingerprints(Dataset<Row> rows) {
    QueryExecution query = execution(rows);
    FileHashTask task = new FileHashTask(rows.schema());
    Map<String, Long> counts = new TreeMap<>();
    Map<String, HashSum> hashes = new TreeMap<>();
    for (FileHashTask.Sum sum :
        tracked(query, () -> query.toRdd().toJavaRDD().mapPartitions(task).collect())) {
      counts.merge(sum.file(), sum.rows(), Long::sum);
      hashes.computeIfAbsent(sum.file(), each -> new HashSum()).add(sum.hash());
    }
    ObjectNode found = Json.object();
    counts.forEach(
        (file, count) ->
            found.putObject(file).put("rows", count).put("hash", hashes.get(file).hex()));
    return found.toString();
  }

  private static OutputSpec prepare(SparkSession spark, StructType schema, JsonNode output)
      throws IOException {
    String column = output.required("column").asText();
    int ordinal = schema.fieldIndex(column);
    StructType rows = ((StructType) schema.fields()[ordinal].dataType()).asNullable();
    return new OutputSpec(
        column, ordinal, output.required("path").asText(), rows, ParquetFiles.of(spark, rows));
  }

  private static int ordinal(StructType schema, String column) {
    return column == null ? -1 : schema.fieldIndex(column);
  }

  private static QueryExecution execution(Dataset<Row> frame) {
    return ((org.apache.spark.sql.classic.Dataset<Row>) frame).queryExecution();
  }

  /**
   * Whether a plan is a batch without rows under steps that add none: then it need not even be
   * planned.
   */
  private static boolean isEmpty(LogicalPlan plan) {
    if (plan instanceof LogicalRDD batch) {
      return batch.rdd().getNumPartitions() == 0;
    }
    return (plan instanceof Project || plan instanceof Filter || plan instanceof SubqueryAlias)
        && isEmpty(plan.children().head());
  }

  /**
   * Runs a query's job as one that Spark's interface shows with its plan, unless a streaming batch
   * does already.
   */
  private static <T> T tracked(QueryExecution query, Supplier<T> body) {
    String running = SQLExecution$.MODULE$.EXECUTION_ID_KEY();
    if (query.sparkSession().sparkContext().getLocalProperty(running) != null) {
      return body.get();
    }
    return SQLExecution$.MODULE$.withNewExecutionId(
        query,
        Option.empty(),
        new AbstractFunction0<T>() {
          @Override
          public T apply() {
            return body.get();
          }
        });
  }
}
