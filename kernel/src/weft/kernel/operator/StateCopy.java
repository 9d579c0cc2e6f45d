package weft.kernel.operator;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.api.java.function.VoidFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import weft.kernel.bytes.Mapped;
import weft.kernel.spark.Addressed;
import weft.kernel.spark.OpenState;
import weft.kernel.spark.Sessions;
import weft.kernel.spark.StateEntry;
import weft.kernel.spark.StateStores;

/** State without its operator: read as a table, or copied into another number of partitions. */
public final class StateCopy {
  private static final StructType ENTRY =
      new StructType()
          .add("bucket", DataTypes.IntegerType)
          .add("place", DataTypes.BinaryType)
          .add("value", DataTypes.BinaryType);

  private final SparkSession spark;
  private final String checkpoint;
  private final boolean isOnHeap;

  public StateCopy(SparkSession spark, String checkpoint, boolean isOnHeap) {
    this.spark = spark;
    this.checkpoint = checkpoint;
    this.isOnHeap = isOnHeap;
  }

  /** All entries of a step at a version: the bucket, what is kept, and under which key. */
  public Dataset<Row> entries(int step, long version) throws IOException {
    StateStores stores = stores(checkpoint);
    List<Integer> partitions = numbers(String.valueOf(step));
    return spark
        .createDataset(partitions, Encoders.INT())
        .repartition(Math.max(1, partitions.size()))
        .flatMap(new StateReading(stores, step, version), Encoders.row(ENTRY));
  }

  /** The newest version of a step that all of its partitions have; 0 where there is none. */
  public long newest(int step) throws IOException {
    List<Long> newest = new ArrayList<>();
    for (int partition : numbers(String.valueOf(step))) {
      newest.add(newest(step, partition));
    }
    // While a batch runs, or when it did not come to its end, some are ahead of others.
    return newest.isEmpty() ? 0 : Collections.min(newest);
  }

  private long newest(int step, int partition) throws IOException {
    FileSystem files = new Path(checkpoint).getFileSystem(Sessions.hadoopConf(spark));
    long newest = 0;
    for (FileStatus file : files.listStatus(new Path(folder(), step + "/" + partition))) {
      String name = file.getPath().getName();
      int end = name.indexOf('.');
      String number = end > 0 ? name.substring(0, end) : "";
      if (!number.isEmpty() && number.chars().allMatch(Character::isDigit)) {
        newest = Math.max(newest, Long.parseLong(number));
      }
    }
    return newest;
  }

  /** Writes a version of the state in a checkpoint into another, in so many partitions. */
  public static void divide(
      SparkSession spark, String from, String into, long version, int partitions, boolean isOnHeap)
      throws IOException {
    new StateCopy(spark, from, isOnHeap).divide(into, version, partitions);
  }

  private void divide(String into, long version, int partitions) throws IOException {
    for (int step : numbers("")) {
      List<Integer> parts = numbers(String.valueOf(step));
      Division task =
          new Division(stores(checkpoint), stores(into), step, version, partitions, parts);
      JavaSparkContext context = JavaSparkContext.fromSparkContext(Sessions.context(spark));
      List<Integer> targets = IntStream.range(0, partitions).boxed().toList();
      context.parallelize(targets, partitions).foreach(task);
    }
  }

  private StateStores stores(String place) {
    return StateStores.in(spark, place, UUID.randomUUID(), isOnHeap);
  }

  private Path folder() {
    return new Path(checkpoint, "state");
  }

  /** The names below a folder of the state that are numbers: steps, or their partitions. */
  private List<Integer> numbers(String below) throws IOException {
    Path folder = below.isEmpty() ? folder() : new Path(folder(), below);
    FileSystem files = folder.getFileSystem(Sessions.hadoopConf(spark));
    List<Integer> found = new ArrayList<>();
    if (files.exists(folder)) {
      for (FileStatus file : files.listStatus(folder)) {
        String name = file.getPath().getName();
        if (name.chars().allMatch(Character::isDigit)) {
          found.add(Integer.parseInt(name));
        }
      }
    }
    found.sort(null);
    return found;
  }

  private static int bucketOf(StateEntry entry) {
    return ByteBuffer.wrap(entry.key()).getInt();
  }

  private record StateReading(StateStores stores, int step, long version)
      implements FlatMapFunction<Integer, Row> {
    @Override
    public Iterator<Row> call(Integer partition) {
      OpenState state = stores.read(step, partition, version);
      return Mapped.of(
          state.entries(new byte[0]),
          entry ->
              RowFactory.create(
                  bucketOf(entry),
                  Arrays.copyOfRange(entry.key(), Integer.BYTES, entry.key().length),
                  entry.value()));
    }
  }

  private record Division(
      StateStores from,
      StateStores into,
      int step,
      long version,
      int partitions,
      List<Integer> parts)
      implements VoidFunction<Integer> {
    @Override
    public void call(Integer partition) {
      try (OpenState made = into.create(step, partition, version)) {
        for (int each : parts) {
          try (OpenState state = from.read(step, each, version)) {
            state
                .entries(new byte[0])
                .forEachRemaining(
                    entry -> {
                      if (Addressed.partition(bucketOf(entry), partitions) == partition) {
                        made.put(entry.key(), entry.value());
                      }
                    });
          }
        }
        made.commit();
      }
    }
  }
}
