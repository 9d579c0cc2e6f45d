package weft.kernel.spark.gate;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.QueryPlanningTracker;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.SparkSession;
import scala.Option;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import weft.kernel.gate.RefusedException;
import weft.kernel.json.Json;

/**
 * SELECT layers around a frame, from names and expressions that stay apart: no text is put
 * together.
 */
public final class Layers {
  /**
   * How many layers Spark resolves at once. It takes a round over all of them for each, and gives
   * up after a hundred rounds; those that are resolved already it passes over.
   */
  private static final int TOGETHER = 4;

  private Layers() {}

  /**
   * The frame with these layers around it, the first innermost.
   *
   * @param layersJson a list of layers, each a list of columns, each its name and its expression
   */
  public static Dataset<Row> select(Dataset<Row> frame, String layersJson) {
    SparkSession spark = (SparkSession) frame.sparkSession();
    LogicalPlan plan = ((org.apache.spark.sql.classic.Dataset<Row>) frame).logicalPlan();
    JsonNode layers = Json.parse(layersJson);
    int waiting = 0;
    for (JsonNode layer : layers) {
      List<NamedExpression> columns = new ArrayList<>();
      for (JsonNode column : layer) {
        columns.add(named(column.get(1).textValue(), column.get(0).textValue()));
      }
      plan = new Project(CollectionConverters.asScala(columns).toSeq(), plan);
      if (++waiting % TOGETHER == 0) {
        plan =
            spark
                .sessionState()
                .analyzer()
                .executeAndCheck(plan, new QueryPlanningTracker(Option.empty()));
      }
    }
    org.apache.spark.sql.classic.Dataset<Row> selected =
        org.apache.spark.sql.classic.Dataset.ofRows(spark, plan);
    refuseUnknown(selected.queryExecution().analyzed(), layers.size());
    return selected;
  }

  /**
   * One expression as a column of a frame; refuses one that holds anything but known expressions.
   */
  public static Column column(Dataset<Row> frame, String sql) {
    Column column = Sql.column(sql);
    refuseUnknown(
        ((org.apache.spark.sql.classic.Dataset<Row>) frame.select(column))
            .queryExecution()
            .analyzed(),
        1);
    return column;
  }

  /** Refuses layers that Spark has read as anything but selections of known expressions. */
  private static void refuseUnknown(LogicalPlan plan, int layers) {
    LogicalPlan layer = plan;
    for (int depth = 0; depth < layers; depth++) {
      if (!(layer instanceof Project project)) {
        throw new RefusedException("Spark has read a selection as " + layer.nodeName() + ".");
      }
      CollectionConverters.asJava(project.projectList())
          .forEach(column -> Gatekeeper.refuseUnknown((Expression) column));
      layer = project.child();
    }
  }

  private static NamedExpression named(String sql, String name) {
    return new Alias(
        Sql.parse(sql), name, NamedExpression$.MODULE$.newExprId(), none(), Option.empty(), none());
  }

  @SuppressWarnings("unchecked")
  private static <T> Seq<T> none() {
    return (Seq<T>) Nil$.MODULE$;
  }
}
