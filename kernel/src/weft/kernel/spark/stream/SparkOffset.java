package weft.kernel.spark.stream;

import org.apache.spark.sql.execution.streaming.Offset;
import weft.kernel.stream.StreamOffset;

/** A {@link StreamOffset} as Spark keeps it in a checkpoint; two are equal when their texts are. */
final class SparkOffset extends Offset {
  private final StreamOffset offset;

  SparkOffset(StreamOffset offset) {
    this.offset = offset;
  }

  @Override
  public String json() {
    return offset.json();
  }
}
