package weft.kernel.spark.executor;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;
import weft.kernel.json.Json;

/** How much time tasks took on executors, by the query that they ran for. */
public final class WorkMeter extends SparkListener {
  private static final String QUERY = "sql.streaming.queryId";
  private static final String OTHER = "";

  private final Map<Integer, String> queries = new HashMap<>();
  private final Map<String, Spent> spent = new HashMap<>();

  private WorkMeter() {}

  /** A meter that counts from now on. */
  public static WorkMeter start(SparkSession spark) {
    WorkMeter meter = new WorkMeter();
    spark.sparkContext().addSparkListener(meter);
    return meter;
  }

  @Override
  public synchronized void onStageSubmitted(SparkListenerStageSubmitted event) {
    String query = event.properties() == null ? null : event.properties().getProperty(QUERY);
    queries.put(event.stageInfo().stageId(), query == null ? OTHER : query);
  }

  @Override
  public synchronized void onStageCompleted(SparkListenerStageCompleted event) {
    queries.remove(event.stageInfo().stageId());
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd event) {
    TaskMetrics metrics = event.taskMetrics();
    if (metrics == null) {
      return;
    }
    String query = queries.getOrDefault(event.stageId(), OTHER);
    Spent sum = spent.computeIfAbsent(query, name -> new Spent());
    sum.runMillis += metrics.executorRunTime();
    sum.cpuNanos += metrics.executorCpuTime();
  }

  /** Seconds of tasks and of their CPU, by query; those of no query under the empty name. */
  public synchronized String report() {
    ObjectNode report = Json.object();
    spent.forEach(
        (query, sum) ->
            report
                .putObject(query)
                .put("run_s", sum.runMillis / 1e3)
                .put("cpu_s", sum.cpuNanos / 1e9));
    return report.toString();
  }

  /** Forgets a query that will not run again under this id. */
  public synchronized void forget(String query) {
    spent.remove(query);
  }

  private static final class Spent {
    private long runMillis;
    private long cpuNanos;
  }
}
