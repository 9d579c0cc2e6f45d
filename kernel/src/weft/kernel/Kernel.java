package weft.kernel;

import org.apache.spark.sql.SparkSession;
import weft.kernel.spark.gate.Functions;

/** What the kernel adds to a Spark session. */
public final class Kernel {
  private Kernel() {}

  /** Registers the kernel's SQL functions in a session. */
  public static void register(SparkSession spark) {
    Functions.register(spark);
  }
}
