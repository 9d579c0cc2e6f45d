package weft.kernel.spark;

import java.io.IOException;
import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.parquet.hadoop.ParquetOutputFormat;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import scala.collection.immutable.Map$;

/**
 * How Parquet files of one schema are written under a session's settings. Preparing that costs as
 * much as a tiny batch, so it is kept, and its Hadoop configuration reaches an executor once.
 */
public final class ParquetFiles implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final int REMEMBERED = 64;

  /** Columns of every stream that have another value in each row: a dictionary would be of all. */
  private static final List<String> UNIQUE = List.of("_weft.id", "_change.position");

  /** The columns of provenance, of which the hashes are such too: no query looks for one. */
  private static final List<String> PROVENANCE =
      List.of("verdict", "by", "step", "executor", "hashes", "_weft");

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
    Configuration settings = job.getConfiguration();
    settings.set(SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE().key(), "TIMESTAMP_MICROS");
    plainInLists(schema, "", false, settings);
    for (String unique : UNIQUE) {
      settings.setBoolean(ParquetOutputFormat.ENABLE_DICTIONARY + "#" + unique, false);
    }
    if (List.of(schema.fieldNames()).equals(PROVENANCE)) {
      settings.setBoolean(ParquetOutputFormat.ENABLE_DICTIONARY + "#hashes", false);
      settings.setBoolean(ParquetOutputFormat.STATISTICS_ENABLED + "#hashes", false);
    }
    this.factory = new ParquetFileFormat().prepareWrite(spark, job, Map$.MODULE$.empty(), schema);
    ParquetRows.use(schema, spark.sessionState().conf(), settings);
    this.conf = SerializableConfiguration.broadcast(spark.sparkContext(), settings);
  }

  public static ParquetFiles of(org.apache.spark.sql.SparkSession session, StructType schema)
      throws IOException {
    SparkSession spark = (SparkSession) session;
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

  /**
   * Values inside lists and maps are written as they are: no query skips files by them, and their
   * dictionaries and statistics cost more than all the rest of a row with long lists.
   */
  private static void plainInLists(
      DataType type, String path, boolean isRepeated, Configuration conf) {
    if (type instanceof StructType struct) {
      for (StructField field : struct.fields()) {
        String below = path.isEmpty() ? field.name() : path + "." + field.name();
        plainInLists(field.dataType(), below, isRepeated, conf);
      }
    } else if (type instanceof ArrayType array) {
      plainInLists(array.elementType(), path + ".list.element", true, conf);
    } else if (type instanceof MapType map) {
      plainInLists(map.keyType(), path + ".key_value.key", true, conf);
      plainInLists(map.valueType(), path + ".key_value.value", true, conf);
    } else if (isRepeated) {
      conf.setBoolean(ParquetOutputFormat.ENABLE_DICTIONARY + "#" + path, false);
      conf.setBoolean(ParquetOutputFormat.STATISTICS_ENABLED + "#" + path, false);
    }
  }

  /** A new file of these rows, whose name begins with a prefix and the partition's number. */
  public ParquetFile create(String folder, String prefix, int partition, StructType schema) {
    TaskID task = new TaskID(new JobID("weft", 0), TaskType.MAP, partition);
    TaskAttemptContext context = new TaskAttemptContextImpl(conf(), new TaskAttemptID(task, 0));
    // The random part keeps attempts apart: what a failed one leaves is never named by a commit.
    String name =
        String.format(
            "%s-%05d-%s%s",
            prefix, partition, UUID.randomUUID(), factory.getFileExtension(context));
    return new ParquetFile(factory.newInstance(new Path(folder, name).toString(), schema, context));
  }

  /** Hadoop's settings under which files are written. */
  public Configuration conf() {
    return conf.value().value();
  }
}
