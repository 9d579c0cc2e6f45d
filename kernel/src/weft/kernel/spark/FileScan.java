package weft.kernel.spark;

import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.FileSourceOptions;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.datasources.FileFormat$;
import org.apache.spark.sql.execution.datasources.FileScanRDD;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Map$;

/**
 * The reading of files as a plan has it: which of their columns, and as columns or as rows. To
 * prepare that, settings of Hadoop are sent to all executors; it is done once for all batches.
 */
final class FileScan {
  private final Function1<PartitionedFile, Iterator<InternalRow>> read;
  private final StructType columns;

  @SuppressWarnings("unchecked") // Java sees the function of a format without its types
  FileScan(SparkSession spark, FileSourceScanExec scan) {
    HadoopFsRelation relation = scan.relation();
    Map<String, String> options =
        relation
            .options()
            .$plus(
                new Tuple2<>(
                    FileFormat$.MODULE$.OPTION_RETURNING_BATCH(),
                    Boolean.toString(scan.supportsColumnar())));
    this.columns = scan.requiredSchema();
    this.read =
        relation
            .fileFormat()
            .buildReaderWithPartitionValues(
                spark,
                relation.dataSchema(),
                relation.partitionSchema(),
                columns,
                Sequences.<Filter>none(),
                options,
                Sessions.hadoopConf(spark));
  }

  /** What is in files; where they are read as columns, a row of this is many. */
  RDD<InternalRow> of(SparkSession spark, KnownFiles files) {
    return new FileScanRDD(
        spark,
        read,
        files.shares(spark),
        columns,
        Sequences.<AttributeReference>none(),
        Map$.MODULE$.empty(),
        new FileSourceOptions(Map$.MODULE$.<String, String>empty()));
  }
}
