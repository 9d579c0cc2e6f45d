package weft.kernel.spark;

import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;

/** What a session knows beside what its public interface tells. */
public final class Sessions {
  private Sessions() {}

  /** Hadoop's settings with those of the session over them. */
  public static Configuration hadoopConf(SparkSession spark) {
    return ((org.apache.spark.sql.classic.SparkSession) spark).sessionState().newHadoopConf();
  }
}
