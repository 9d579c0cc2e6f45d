package weft.kernel;

import java.io.IOException;
import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import scala.collection.immutable.Map$;

/**
 * How Parquet files of one schema are written under a session's settings. Preparing that costs as
 * much as a tiny batch, so it is kept, and its Hadoop configuration reaches an executor once.
 */
final class ParquetFiles implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final int REMEMBERED = 64;
  private static final Map<Key, ParquetFiles> PREPARED =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, ParquetFiles> eldest) {
          return size() > REMEMBERED;
        }
      };

  private final OutputWriterFactory factory;
  private final Broadcast<SerializableConfiguration> conf;

  /**
   * What the way of writing depends on: the Spark that runs, the session's settings, and the rows.
   */
  private record Key(
      String application,
      scala.collection.immutable.Map<String, String> settings,
      StructType schema) {}

  private ParquetFiles(SparkSession spark, StructType schema) throws IOException {
    Job job = Job.getInstance(spark.sessionState().newHadoopConf());
    // Microseconds have statistics and are half as wide as Spark's default, which is for old
    // readers.
    job.getConfiguration().set(SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE().key(), "TIMESTAMP_MICROS");
    this.factory = new ParquetFileFormat().prepareWrite(spark, job, Map$.MODULE$.empty(), schema);
    this.conf = SerializableConfiguration.broadcast(spark.sparkContext(), job.getConfiguration());
  }

  static ParquetFiles of(SparkSession spark, StructType schema) throws IOException {
    Key key =
        new Key(
            spark.sparkContext().applicationId(),
            spark.sessionState().conf().getAllConfs(),
            schema);
    synchronized (PREPARED) {
      ParquetFiles known = PREPARED.get(key);
      if (known == null) {
        known = new ParquetFiles(spark, schema);
        PREPARED.put(key, known);
      }
      return known;
    }
  }

  OutputWriterFactory factory() {
    return factory;
  }

  Configuration conf() {
    return conf.value().value();
  }
}
