package weft.kernel.spark;

import java.util.Optional;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import scala.jdk.javaapi.CollectionConverters;

/** What a session knows beside what its public interface tells. */
public final class Sessions {
  private static final String JOB_GROUP = "spark.jobGroup.id";

  private Sessions() {}

  /** Hadoop's settings with those of the session over them. */
  public static Configuration hadoopConf(SparkSession spark) {
    return ((org.apache.spark.sql.classic.SparkSession) spark).sessionState().newHadoopConf();
  }

  /** The run of a pipeline that this thread runs a batch of, if it does. */
  public static Optional<UUID> query(SparkSession spark) {
    // Spark cancels the jobs of a query by this, and names them so for nothing else of ours.
    String group = context(spark).getLocalProperty(JOB_GROUP);
    return context(spark).getLocalProperty(StreamExecution.QUERY_ID_KEY()) == null
        ? Optional.empty()
        : Optional.of(UUID.fromString(group));
  }

  /**
   * Has this thread run batches of a query: its jobs are known by the run, and mean what the
   * session's settings say, on executors too.
   */
  public static void enter(SparkSession spark, String query, String run, String name) {
    SparkContext context = context(spark);
    SparkSession.setActiveSession(spark);
    var settings = ((org.apache.spark.sql.classic.SparkSession) spark).sessionState().conf();
    CollectionConverters.asJava(settings.getAllConfs())
        .forEach((key, value) -> context.setLocalProperty(key, value));
    context.setLocalProperty(StreamExecution.QUERY_ID_KEY(), query);
    context.setJobGroup(run, name, true);
  }

  /** Ends the jobs of a run, those too that it has yet to begin. */
  public static void cancel(SparkSession spark, String run) {
    context(spark).cancelJobGroupAndFutureJobs(run);
  }

  /** The Spark that a session runs on. */
  public static SparkContext context(SparkSession spark) {
    return ((org.apache.spark.sql.classic.SparkSession) spark).sparkContext();
  }
}
