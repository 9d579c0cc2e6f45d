package weft.kernel.source;

import java.nio.file.Path;
import org.apache.spark.sql.connector.read.InputPartition;

/** One numbered segment file of a folder. */
record Segment(String folder, long number) implements InputPartition {

  static Path path(Path folder, long number) {
    return folder.resolve(String.format("%012d.segment", number));
  }

  Path path() {
    return path(Path.of(folder), number);
  }
}
