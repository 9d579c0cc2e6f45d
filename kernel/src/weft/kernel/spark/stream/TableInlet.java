package weft.kernel.spark.stream;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import weft.kernel.change.Attach;
import weft.kernel.change.NewestRows;
import weft.kernel.hash.RecordHash;
import weft.kernel.json.Json;
import weft.kernel.operator.InputBatch;
import weft.kernel.spark.BatchFrame;
import weft.kernel.spark.FrameRows;
import weft.kernel.spark.KnownFiles;
import weft.kernel.spark.Sessions;
import weft.kernel.stream.Newest;
import weft.kernel.stream.StreamOffset;
import weft.kernel.stream.StreamOptions;
import weft.kernel.stream.StreamReader;
import weft.kernel.table.Commit;
import weft.kernel.table.Compacted;
import weft.kernel.table.DataFile;
import weft.kernel.table.TableLog;

/**
 * Reads a stream knot by knot: a batch is some whole knots in order, without those that were rolled
 * back.
 */
final class TableInlet implements Inlet {
  /** So many rows a task sorts, more or less. */
  private static final long ROWS_A_TASK = 1_000_000;

  private final SparkSession spark;
  private final StructType schema;
  private final StreamOptions options;
  private final StreamReader reader;
  private final Path folder;

  TableInlet(org.apache.spark.sql.SparkSession spark, StructType schema, StreamOptions options)
      throws IOException {
    this.spark = (SparkSession) spark;
    // Old files may lack some of its columns.
    this.schema = schema.asNullable();
    this.options = options;
    this.reader = new StreamReader(TableLog.of(spark, options.path()), options);
    Path path = new Path(options.path());
    this.folder = path.getFileSystem(Sessions.hadoopConf(spark)).makeQualified(path);
  }

  @Override
  public String latest(String from) throws IOException {
    StreamOffset start = offset(from);
    StreamOffset end = reader.next(start);
    return end.equals(start) ? from : end.json();
  }

  private StreamOffset offset(String text) throws IOException {
    return text == null ? reader.beginning() : StreamOffset.parse(text);
  }

  @Override
  public void tick() {
    StreamReader.tick(options.name());
  }

  @Override
  public InputBatch batch(String start, String end) throws IOException {
    StreamOffset from = offset(start);
    StreamOffset to = end == null ? from : StreamOffset.parse(end);
    List<Commit> knots = reader.knots(from, to);
    ArrayNode listed = Json.array();
    knots.forEach(knot -> listed.addArray().add(knot.knot()).add(knot.weft().get("watermark")));
    long rows = knots.stream().mapToLong(Commit::rows).sum();
    List<Compacted> files = reader.files(knots);
    LogicalPlan plan = united(scans(files, from.knot(), to.knot()));
    if (reader.startsWithNewest(from) && rows >= options.newest().leastRows()) {
      plan = newest(plan, rows);
    }
    String control = Json.object().set("knots", listed).toString();
    return new InputBatch(Dataset$.MODULE$.ofRows(spark, plan), control, rows, files.size());
  }

  /** The files of knots in (after, upto]; of those that other knots share, their rows alone. */
  private List<LogicalPlan> scans(List<Compacted> files, long after, long upto) {
    KnownFiles whole = new KnownFiles();
    KnownFiles shared = new KnownFiles();
    for (Compacted one : files) {
      boolean isWhole = one.after() >= after && one.upto() <= upto;
      DataFile file = one.file();
      (isWhole ? whole : shared)
          .add(new Path(folder, file.path()), file.bytes(), file.modified());
    }
    List<LogicalPlan> scans = new ArrayList<>();
    if (!whole.isEmpty()) {
      scans.add(BatchFrame.plan(spark, whole, schema));
    }
    if (!shared.isEmpty()) {
      String wanted = "_weft.knot > " + after + " AND _weft.knot <= " + upto;
      LogicalPlan scan = BatchFrame.plan(spark, shared, schema);
      scans.add(Dataset$.MODULE$.ofRows(spark, scan).where(wanted).logicalPlan());
    }
    return scans;
  }

  private LogicalPlan united(List<LogicalPlan> parts) {
    return switch (parts.size()) {
      case 0 -> BatchFrame.plan(spark, new KnownFiles(), schema);
      case 1 -> parts.get(0);
      default -> new Union(seq(parts), false, false);
    };
  }

  /** Of some changes those that are the rows of today; Spark sorts on its disk. */
  private LogicalPlan newest(LogicalPlan all, long rows) {
    Newest newest = options.newest();
    Set<String> system = Set.of(RecordHash.WEFT, Attach.CHANGE);
    Column[] columns = new Column[schema.size()];
    for (int at = 0; at < columns.length; at++) {
      StructField field = schema.fields()[at];
      boolean isNeeded = newest.columns().contains(field.name()) || system.contains(field.name());
      Column found = isNeeded ? named(field.name()) : functions.lit(null).cast(field.dataType());
      columns[at] = found.as(field.name());
    }
    Column[] key = newest.key().stream().map(TableInlet::named).toArray(Column[]::new);
    int tasks = spark.sparkContext().defaultParallelism() + (int) (rows / ROWS_A_TASK);
    Dataset<Row> sorted =
        Dataset$.MODULE$
            .ofRows(spark, all)
            .select(columns)
            .repartition(tasks, key)
            .sortWithinPartitions(key);
    NewestRows chosen = new NewestRows(schema, newest.key());
    RDD<InternalRow> found = FrameRows.of(sorted).rows().mapPartitions(chosen).rdd();
    return BatchFrame.plan(spark, found, schema, false);
  }

  private static Column named(String column) {
    return functions.col("`" + column.replace("`", "``") + "`");
  }

  private static <T> Seq<T> seq(List<T> list) {
    return CollectionConverters.asScala(list).toSeq();
  }
}
