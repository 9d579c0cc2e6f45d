package weft.kernel.spark;

import org.apache.spark.sql.catalyst.expressions.XxHash64Function;
import org.apache.spark.sql.types.DataType;

/** The 64-bit hash that Spark's own {@code xxhash64} has of a value. */
public final class ValueHash {
  private ValueHash() {}

  /** The hash of a value of this type, as a row holds it. */
  public static long of(Object value, DataType type, long seed) {
    return XxHash64Function.hash(value, type, seed);
  }
}
