package weft.kernel.source;

import org.apache.spark.sql.connector.read.InputPartition;

/** One numbered segment file of a folder. */
record Segment(long number) implements InputPartition {

  String fileName() {
    return String.format("%012d.segment", number);
  }
}
