package weft.kernel.spark;

import java.io.Serializable;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.paths.SparkPath;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.FileFormat$;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.collection.immutable.Map;
import scala.collection.immutable.Map$;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads Parquet files of one schema inside a task, each when it is opened and in its own order.
 * Preparing that costs as much as a tiny knot, so it is kept.
 */
public final class FileRows implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final int REMEMBERED = 64;

  private static final LinkedHashMap<Form, FileRows> PREPARED =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(java.util.Map.Entry<Form, FileRows> eldest) {
          return size() > REMEMBERED;
        }
      };

  private final StructType type;
  private final Function1<PartitionedFile, scala.collection.Iterator<InternalRow>> reader;

  /** What the way of reading depends on: the Spark that runs, the session's settings, the rows. */
  private record Form(
      String application, Map<String, String> settings, StructType stored, StructType wanted) {}

  private FileRows(
      StructType type, Function1<PartitionedFile, scala.collection.Iterator<InternalRow>> reader) {
    this.type = type;
    this.reader = reader;
  }

  /**
   * A reader of some columns.
   *
   * @param stored the columns that the files have
   * @param wanted those that are read of them, or parts of them
   */
  public static FileRows of(
      org.apache.spark.sql.SparkSession session, StructType stored, StructType wanted) {
    SparkSession spark = (SparkSession) session;
    Form form =
        new Form(
            spark.sparkContext().applicationId(),
            spark.sessionState().conf().getAllConfs(),
            stored,
            wanted);
    synchronized (PREPARED) {
      return PREPARED.computeIfAbsent(form, each -> prepare(spark, stored, wanted));
    }
  }

  private static FileRows prepare(SparkSession spark, StructType stored, StructType wanted) {
    Map<String, String> asRows =
        new Map.Map1<>(FileFormat$.MODULE$.OPTION_RETURNING_BATCH(), "false");
    return new FileRows(
        wanted,
        new ParquetFileFormat()
            .buildReaderWithPartitionValues(
                spark,
                stored,
                new StructType(),
                wanted,
                CollectionConverters.asScala(List.<Filter>of()).toSeq(),
                asRows,
                spark.sessionState().newHadoopConf()));
  }

  /** The form of the rows. */
  public StructType type() {
    return type;
  }

  /** The rows of a file; each holds until the next one is asked for. */
  public Iterator<InternalRow> open(String path, long bytes) {
    PartitionedFile file =
        new PartitionedFile(
            InternalRow.empty(),
            SparkPath.fromPath(new Path(path)),
            0,
            bytes,
            new String[0],
            0,
            bytes,
            Map$.MODULE$.empty());
    return CollectionConverters.asJava(reader.apply(file));
  }
}
