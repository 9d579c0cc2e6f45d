package weft.kernel.gate;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.SparkSession;
import scala.Option;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import weft.kernel.Json;

/** SELECT layers around a frame, from names and expressions that stay apart: no text is put together. */
public final class Layers {
  private Layers() {}

  /**
   * The frame with these layers around it, the first innermost.
   *
   * @param layersJson a list of layers, each a list of columns, each its name and its expression
   */
  public static Dataset<Row> select(Dataset<Row> frame, String layersJson) {
    LogicalPlan plan = ((org.apache.spark.sql.classic.Dataset<Row>) frame).logicalPlan();
    for (JsonNode layer : Json.parse(layersJson)) {
      List<NamedExpression> columns = new ArrayList<>();
      for (JsonNode column : layer) {
        columns.add(named(column.get(1).textValue(), column.get(0).textValue()));
      }
      plan = new Project(CollectionConverters.asScala(columns).toSeq(), plan);
    }
    SparkSession spark = (SparkSession) frame.sparkSession();
    return org.apache.spark.sql.classic.Dataset.ofRows(spark, plan);
  }

  private static NamedExpression named(String sql, String name) {
    return new Alias(Sql.parse(sql), name, NamedExpression$.MODULE$.newExprId(), none(), Option.empty(), none());
  }

  @SuppressWarnings("unchecked")
  private static <T> Seq<T> none() {
    return (Seq<T>) Nil$.MODULE$;
  }
}
