package weft.kernel.spark;

import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning;
import org.apache.spark.sql.catalyst.types.DataTypeUtils$;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation$;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;

/** The rows of a batch as a frame, from tasks or from files, and where a frame has them from. */
public final class BatchFrame {
  private BatchFrame() {}

  /** A frame of rows that tasks make. */
  public static Dataset<Row> of(
      org.apache.spark.sql.SparkSession spark, RDD<InternalRow> rows, StructType schema) {
    return Dataset$.MODULE$.ofRows((SparkSession) spark, plan(spark, rows, schema, false));
  }

  /** A frame of the rows in files. */
  public static Dataset<Row> of(
      org.apache.spark.sql.SparkSession spark, KnownFiles files, StructType schema) {
    return Dataset$.MODULE$.ofRows((SparkSession) spark, plan(spark, files, schema));
  }

  /** The plan of a frame of rows that tasks make, of a streaming one if it is. */
  public static LogicalPlan plan(
      org.apache.spark.sql.SparkSession spark,
      RDD<InternalRow> rows,
      StructType schema,
      boolean isStreaming) {
    return new LogicalRDD(
        attributes(schema),
        rows,
        new UnknownPartitioning(0),
        Sequences.<SortOrder>none(),
        isStreaming,
        Option.empty(),
        (SparkSession) spark,
        Option.empty(),
        Option.empty());
  }

  /** The plan of a frame of the rows in files. */
  public static LogicalPlan plan(
      org.apache.spark.sql.SparkSession spark, KnownFiles files, StructType schema) {
    HadoopFsRelation relation =
        new HadoopFsRelation(
            files,
            new StructType(),
            schema,
            Option.empty(),
            new ParquetFileFormat(),
            Map$.MODULE$.empty(),
            (SparkSession) spark);
    return LogicalRelation$.MODULE$.apply(relation, false);
  }

  @SuppressWarnings("unchecked")
  public static Seq<Attribute> attributes(StructType schema) {
    Seq<AttributeReference> attributes = DataTypeUtils$.MODULE$.toAttributes(schema);
    return (Seq<Attribute>) (Seq<?>) attributes;
  }

  /** The rows of several frames with the same columns as one; of files, as one of their files. */
  public static Dataset<Row> together(List<Dataset<Row>> frames) {
    Dataset<Row> first = frames.get(0);
    if (frames.size() == 1) {
      return first;
    }
    List<Dataset<Row>> full = frames.stream().filter(frame -> !isEmpty(frame)).toList();
    if (full.isEmpty()) {
      return first;
    }
    KnownFiles files = new KnownFiles();
    for (Dataset<Row> frame : full) {
      KnownFiles own = filesOf(frame);
      if (own == null) {
        return full.stream().reduce(Dataset::unionByName).orElseThrow();
      }
      files.addAll(own);
    }
    return of(first.sparkSession(), files, first.schema());
  }

  private static boolean isEmpty(Dataset<Row> frame) {
    RDD<InternalRow> rows = rowsOf(frame);
    return rows != null && rows.getNumPartitions() == 0;
  }

  /** The tasks that make the rows of a frame; null for one that has them from elsewhere. */
  static RDD<InternalRow> rowsOf(Dataset<Row> batch) {
    return plan(batch) instanceof LogicalRDD rows ? rows.rdd() : null;
  }

  /** The files that have the rows of a frame; null for one that has them from elsewhere. */
  static KnownFiles filesOf(Dataset<Row> batch) {
    return plan(batch) instanceof LogicalRelation relation
            && relation.relation() instanceof HadoopFsRelation files
            && files.location() instanceof KnownFiles known
        ? known
        : null;
  }

  private static LogicalPlan plan(Dataset<Row> batch) {
    return ((org.apache.spark.sql.classic.Dataset<Row>) batch).logicalPlan();
  }
}
