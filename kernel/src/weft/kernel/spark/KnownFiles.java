package weft.kernel.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.PartitionedFileUtil$;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.FilePartition$;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Files of which all is known that a plan needs: nothing is listed and none is looked at before it
 * is read.
 */
public final class KnownFiles implements FileIndex {
  private static final long BLOCK_BYTES = 128L << 20;

  private final List<FileStatusWithMetadata> files = new ArrayList<>();
  private long bytes;

  public void add(Path path, long size, long modified) {
    FileStatus status = new FileStatus(size, false, 1, BLOCK_BYTES, modified, path);
    files.add(new FileStatusWithMetadata(status, Map$.MODULE$.empty()));
    bytes += size;
  }

  public void addAll(KnownFiles others) {
    files.addAll(others.files);
    bytes += others.bytes;
  }

  public boolean isEmpty() {
    return files.isEmpty();
  }

  /** What each task reads of them, as Spark shares files out. */
  Seq<FilePartition> shares(org.apache.spark.sql.SparkSession spark) {
    Seq<PartitionDirectory> all = listFiles(Sequences.none(), Sequences.none());
    long most = FilePartition$.MODULE$.maxSplitBytes(spark, all);
    List<PartitionedFile> parts = new ArrayList<>();
    for (FileStatusWithMetadata file : files) {
      Seq<PartitionedFile> split =
          PartitionedFileUtil$.MODULE$.splitFiles(
              file, file.getPath(), true, most, InternalRow.empty());
      parts.addAll(CollectionConverters.asJava(split));
    }
    parts.sort((one, other) -> Long.compare(other.length(), one.length()));
    return FilePartition$.MODULE$.getFilePartitions(spark, Sequences.of(parts), most);
  }

  @Override
  public Seq<Path> rootPaths() {
    return Sequences.of(files.stream().map(file -> file.getPath().getParent()).distinct().toList());
  }

  @Override
  public Seq<PartitionDirectory> listFiles(Seq<Expression> partitions, Seq<Expression> data) {
    return Sequences.of(List.of(new PartitionDirectory(InternalRow.empty(), Sequences.of(files))));
  }

  @Override
  public String[] inputFiles() {
    return files.stream().map(file -> file.getPath().toUri().toString()).toArray(String[]::new);
  }

  @Override
  public void refresh() {
    // They never change.
  }

  @Override
  public long sizeInBytes() {
    return bytes;
  }

  @Override
  public StructType partitionSchema() {
    return new StructType();
  }
}
