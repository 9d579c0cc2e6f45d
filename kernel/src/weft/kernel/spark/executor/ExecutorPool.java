package weft.kernel.spark.executor;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SchedulerBackend;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.status.api.v1.ExecutorSummary;
import scala.jdk.javaapi.CollectionConverters;
import weft.kernel.json.Json;

/**
 * The executors of a session. How many there are is changed by asking for a total and letting
 * single ones go: Spark's own way of taking some back lowers the total once more.
 */
public final class ExecutorPool {
  private static final String DRIVER = "driver";
  private static final String HEAP = "JVMHeapMemory";

  private ExecutorPool() {}

  /** Whether the master gives and takes executors: not where they are threads of this process. */
  public static boolean isElastic(SparkSession spark) {
    return client(spark) != null;
  }

  /** The executors that are there: id, cores, since when, tasks now, most memory used. */
  public static String list(SparkSession spark) {
    ArrayNode found = Json.array();
    for (ExecutorSummary one : summaries(spark)) {
      ObjectNode row = found.addObject();
      row.put("id", one.id()).put("cores", one.totalCores()).put("host", host(one));
      row.put("since_ms", one.addTime().getTime()).put("tasks", one.activeTasks());
      var peak = one.peakMemoryMetrics();
      row.put("memory", peak.isEmpty() ? 0 : peak.get().getMetricValue(HEAP));
    }
    return found.toString();
  }

  /** Has the master bring the executors to a total; fewer are let go by {@link #release}. */
  public static void request(SparkSession spark, int total) {
    SparkContext context = spark.sparkContext();
    context.requestTotalExecutors(total, 0, scala.collection.immutable.Map$.MODULE$.empty());
  }

  /**
   * Lets executors beyond a total go, the newest first, and says how many are gone or going. Those
   * with tasks stay unless forced; the tasks of a forced one run again elsewhere.
   */
  public static int release(SparkSession spark, int total, boolean forced) {
    List<ExecutorSummary> there = summaries(spark);
    there.sort(Comparator.comparing(ExecutorSummary::addTime).reversed());
    List<String> asked = new ArrayList<>();
    for (ExecutorSummary one : there.subList(0, Math.max(0, there.size() - total))) {
      asked.add(one.id());
    }
    if (asked.isEmpty()) {
      return 0;
    }
    var ids = CollectionConverters.asScala(asked).toSeq();
    return client(spark).killExecutors(ids, false, false, forced).size();
  }

  private static List<ExecutorSummary> summaries(SparkSession spark) {
    boolean elastic = isElastic(spark);
    List<ExecutorSummary> found = new ArrayList<>();
    var listed = spark.sparkContext().statusStore().executorList(true);
    for (ExecutorSummary one : CollectionConverters.asJava(listed)) {
      if (one.id().equals(DRIVER) != elastic) {
        found.add(one);
      }
    }
    return found;
  }

  private static String host(ExecutorSummary one) {
    return one.hostPort().substring(0, Math.max(0, one.hostPort().lastIndexOf(':')));
  }

  private static ExecutorAllocationClient client(SparkSession spark) {
    SchedulerBackend backend = spark.sparkContext().schedulerBackend();
    return backend instanceof ExecutorAllocationClient found ? found : null;
  }
}
