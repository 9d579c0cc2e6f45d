package weft.kernel.spark;

import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution$;
import scala.Option;
import scala.runtime.AbstractFunction0;

/** The rows of a frame as Spark's memory has them, for tasks that see them without a copy. */
public final class FrameRows {
  private final QueryExecution query;

  private FrameRows(QueryExecution query) {
    this.query = query;
  }

  public static FrameRows of(Dataset<Row> frame) {
    return new FrameRows(((org.apache.spark.sql.classic.Dataset<Row>) frame).queryExecution());
  }

  /** Whether it is known, before anything is planned, that there are none. */
  public boolean areNone() {
    return isEmpty(query.analyzed());
  }

  /** The rows themselves, which a job of its own reads. */
  public JavaRDD<InternalRow> rows() {
    return query.toRdd().toJavaRDD();
  }

  /** What a task makes of each partition, all of it together. */
  public <T> List<T> collect(FlatMapFunction<Iterator<InternalRow>, T> task) {
    return tracked(rows -> rows.mapPartitions(task).collect());
  }

  /** The same for a task that is told the partition's number and gives one answer. */
  public <T> List<T> collect(Function2<Integer, Iterator<InternalRow>, T> task) {
    return tracked(
        rows ->
            rows.<T>mapPartitionsWithIndex(
                    (partition, part) -> List.of(task.call(partition, part)).iterator(), true)
                .collect());
  }

  /** Whether a plan is a batch without rows under steps that add none. */
  private static boolean isEmpty(LogicalPlan plan) {
    if (plan instanceof LogicalRDD batch) {
      return batch.rdd().getNumPartitions() == 0;
    }
    return (plan instanceof Project || plan instanceof Filter || plan instanceof SubqueryAlias)
        && isEmpty(plan.children().head());
  }

  /**
   * Runs the query's job as one that Spark's interface shows with its plan, unless a streaming
   * batch does already.
   */
  private <T> T tracked(Function<JavaRDD<InternalRow>, T> job) {
    String running = SQLExecution$.MODULE$.EXECUTION_ID_KEY();
    if (query.sparkSession().sparkContext().getLocalProperty(running) != null) {
      return job.apply(query.toRdd().toJavaRDD());
    }
    return SQLExecution$.MODULE$.withNewExecutionId(
        query,
        Option.empty(),
        new AbstractFunction0<T>() {
          @Override
          public T apply() {
            return job.apply(query.toRdd().toJavaRDD());
          }
        });
  }
}
