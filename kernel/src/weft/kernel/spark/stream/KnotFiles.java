package weft.kernel.spark.stream;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import weft.kernel.table.DataFile;

/**
 * The files of some knots as the log describes them: nothing is listed and no file is looked at
 * before it is read.
 */
final class KnotFiles implements FileIndex {
  private static final long BLOCK_BYTES = 128L << 20;

  private final Path folder;
  private final List<FileStatusWithMetadata> files = new ArrayList<>();
  private long bytes;

  KnotFiles(Path folder) {
    this.folder = folder;
  }

  void add(DataFile file) {
    FileStatus status =
        new FileStatus(
            file.bytes(), false, 1, BLOCK_BYTES, file.modified(), new Path(folder, file.path()));
    files.add(new FileStatusWithMetadata(status, Map$.MODULE$.empty()));
    bytes += file.bytes();
  }

  boolean isEmpty() {
    return files.isEmpty();
  }

  private static <T> Seq<T> seq(List<T> list) {
    return CollectionConverters.asScala(list).toSeq();
  }

  @Override
  public Seq<Path> rootPaths() {
    return seq(List.of(folder));
  }

  @Override
  public Seq<PartitionDirectory> listFiles(Seq<Expression> partitions, Seq<Expression> data) {
    return seq(List.of(new PartitionDirectory(InternalRow.empty(), seq(files))));
  }

  @Override
  public String[] inputFiles() {
    return files.stream().map(file -> file.getPath().toUri().toString()).toArray(String[]::new);
  }

  @Override
  public void refresh() {
    // A knot's files never change.
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
