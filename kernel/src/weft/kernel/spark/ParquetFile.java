package weft.kernel.spark;

import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.OutputWriter;

/** One Parquet file that is being written. */
public final class ParquetFile {
  private final OutputWriter writer;

  ParquetFile(OutputWriter writer) {
    this.writer = writer;
  }

  public void write(InternalRow row) {
    writer.write(row);
  }

  public void close() {
    writer.close();
  }

  public Path path() {
    return new Path(writer.path());
  }
}
