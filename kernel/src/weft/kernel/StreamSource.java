package weft.kernel;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning;
import org.apache.spark.sql.catalyst.types.DataTypeUtils$;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxRows;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation$;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads a stream knot by knot: a batch is some whole knots in order, without those that were rolled back, and a control
 * row per bucket that says which knots they are.
 */
public final class StreamSource implements Source, SupportsTriggerAvailableNow {
  private static final Set<String> TICKED = ConcurrentHashMap.newKeySet();

  private final SparkSession spark;
  private final StructType schema;
  private final StreamOptions options;
  private final TableLog log;
  private final Path folder;
  private long newestAllowed = Long.MAX_VALUE;
  private boolean checked;
  private StreamOffset idleFrom;
  private long idleVersion;
  private long seen;

  StreamSource(org.apache.spark.sql.SparkSession spark, StructType schema, StreamOptions options)
      throws IOException {
    this.spark = (SparkSession) spark;
    this.schema = schema;
    this.options = options;
    this.log = TableLog.of(spark, options.path());
    Path path = new Path(options.path());
    this.folder = path.getFileSystem(this.spark.sessionState().newHadoopConf()).makeQualified(path);
  }

  /** Makes the reader with this name run one more batch, also when there is nothing new. */
  public static void tick(String name) {
    TICKED.add(name);
    Wake.added(name);
  }

  @Override
  public StructType schema() {
    return schema;
  }

  @Override
  public Option<org.apache.spark.sql.execution.streaming.Offset> getOffset() {
    throw new IllegalStateException("Spark asks a source with admission control for latestOffset.");
  }

  @Override
  public ReadLimit getDefaultReadLimit() {
    return options.maxRows() > 0 ? ReadLimit.maxRows(options.maxRows()) : ReadLimit.allAvailable();
  }

  @Override
  public void prepareForTriggerAvailableNow() {
    try {
      newestAllowed = log.version();
    } catch (IOException e) {
      throw Sneaky.raise(e);
    }
  }

  @Override
  public Offset latestOffset(Offset start, ReadLimit limit) {
    Offset latest = look(start, limit);
    if (latest != start || options.waitMillis() == 0) {
      return latest;
    }
    seen = Wake.await(options.query(), options.wakes(), seen, options.waitMillis());
    return look(start, limit);
  }

  private Offset look(Offset start, ReadLimit limit) {
    try {
      StreamOffset from = start == null ? beginning() : StreamOffset.parse(start.json());
      long newest = Math.min(log.version(), newestAllowed);
      check(from);
      boolean ticked = TICKED.remove(options.name());
      if (!ticked && from.equals(idleFrom) && newest == idleVersion) {
        return start;
      }
      StreamOffset to = admit(from, newest, limit);
      if (ticked) {
        return to.ticked();
      }
      if (to.equals(from)) {
        idleFrom = from;
        idleVersion = newest;
        return start;
      }
      return to;
    } catch (IOException e) {
      throw Sneaky.raise(e);
    }
  }

  private StreamOffset beginning() throws IOException {
    return new StreamOffset(options.startKnot(), log.floor(options.startKnot()), 0);
  }

  /** Whole knots while they and their rows are within the limits, and one knot whatever its rows. */
  private StreamOffset admit(StreamOffset from, long newest, ReadLimit limit) throws IOException {
    long most = limit instanceof ReadMaxRows max ? max.maxRows() : Long.MAX_VALUE;
    long mostKnots = options.maxKnots() > 0 ? options.maxKnots() : Long.MAX_VALUE;
    long rows = 0;
    long knots = 0;
    StreamOffset to = from;
    for (long v = from.version() + 1; v <= newest; v++) {
      Commit commit = log.read(v);
      if (!isWanted(commit, from)) {
        continue;
      }
      rows += commit.rows();
      knots++;
      if (to != from && (rows > most || knots > mostKnots)) {
        break;
      }
      to = new StreamOffset(commit.knot(), v, from.tick());
    }
    return to;
  }

  private boolean isWanted(Commit commit, StreamOffset from) {
    return log.isKept(commit) && commit.knot() > from.knot();
  }

  /** Refuses to go on from an offset that was taken in another table of the same name. */
  private void check(StreamOffset from) throws IOException {
    if (checked || from.version() == Commit.NONE) {
      return;
    }
    boolean there = from.version() <= log.version();
    Commit commit = there ? log.read(from.version()) : null;
    boolean same = there && commit.isKnot() && commit.knot() == from.knot();
    if (!same && !(there && from.knot() == options.startKnot())) {
      throw new IllegalStateException(
          "The stream at "
              + options.path()
              + " does not have knot "
              + from.knot()
              + " at version "
              + from.version()
              + ", where this reader stopped: its table was made anew or restored. Remove the reader's checkpoint to"
              + " read it from the start.");
    }
    checked = true;
  }

  @Override
  public Dataset<Row> getBatch(
      Option<org.apache.spark.sql.execution.streaming.Offset> start,
      org.apache.spark.sql.execution.streaming.Offset end) {
    try {
      StreamOffset from = start.isEmpty() ? beginning() : StreamOffset.parse(start.get().json());
      StreamOffset to = StreamOffset.parse(end.json());
      log.version();
      check(to);
      Wake.ran(options.query());
      KnotFiles files = new KnotFiles(folder);
      ArrayNode knots = Json.array();
      for (long v = from.version() + 1; v <= to.version(); v++) {
        Commit commit = log.read(v);
        if (isWanted(commit, from)) {
          commit.files().forEach(files::add);
          knots.addArray().add(commit.knot()).add(commit.weft().get("watermark"));
        }
      }
      return Dataset$.MODULE$.ofRows(spark, plan(files, knots));
    } catch (IOException e) {
      throw Sneaky.raise(e);
    }
  }

  private LogicalPlan plan(KnotFiles files, ArrayNode knots) {
    List<LogicalPlan> parts = new ArrayList<>();
    if (!files.isEmpty()) {
      parts.add(scan(files));
    }
    if (options.buckets() > 0) {
      parts.add(control(knots));
    }
    return switch (parts.size()) {
      case 0 -> new LocalRelation(attributes(), seq(List.of()), true, Option.empty());
      case 1 -> parts.get(0);
      default -> new Union(seq(parts), false, false);
    };
  }

  private LogicalPlan scan(KnotFiles files) {
    HadoopFsRelation relation =
        new HadoopFsRelation(
            files,
            new StructType(),
            schema,
            Option.empty(),
            new ParquetFileFormat(),
            Map$.MODULE$.empty(),
            spark);
    return LogicalRelation$.MODULE$.apply(relation, true);
  }

  /** One row per bucket in a single partition, which a batch has also when it has no data. */
  private LogicalPlan control(ArrayNode knots) {
    List<InternalRow> rows = new ArrayList<>();
    for (int bucket = 0; bucket < options.buckets(); bucket++) {
      Object[] values = new Object[schema.length()];
      String text = Json.object().put("bucket", bucket).set("knots", knots).toString();
      values[schema.fieldIndex(RecordHash.CONTROL)] = UTF8String.fromString(text);
      rows.add(new GenericInternalRow(values));
    }
    return new LogicalRDD(
        attributes(),
        JavaSparkContext.fromSparkContext(spark.sparkContext()).parallelize(rows, 1).rdd(),
        new UnknownPartitioning(0),
        seq(List.of()),
        true,
        Option.empty(),
        spark,
        Option.empty(),
        Option.empty());
  }

  @SuppressWarnings("unchecked")
  private Seq<Attribute> attributes() {
    Seq<AttributeReference> attributes = DataTypeUtils$.MODULE$.toAttributes(schema);
    return (Seq<Attribute>) (Seq<?>) attributes;
  }

  private static <T> Seq<T> seq(List<T> list) {
    return CollectionConverters.asScala(list).toSeq();
  }

  @Override
  public void stop() {
    Wake.forget(options.query());
  }

  @Override
  public String toString() {
    return "weft-stream[" + options.path() + "]";
  }
}
