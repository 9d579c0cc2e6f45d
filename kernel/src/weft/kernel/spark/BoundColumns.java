package weft.kernel.spark;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Columns that are computed from rows of one form wherever such rows turn up, in the state of an
 * operator too: resolved and optimised once, then sent along.
 */
public final class BoundColumns implements Serializable {
  private static final long serialVersionUID = 1;

  private final Seq<Expression> expressions;
  private final Seq<Attribute> inputs;
  private final StructType type;
  private transient UnsafeProjection projection;

  private BoundColumns(Seq<Expression> expressions, Seq<Attribute> inputs, StructType type) {
    this.expressions = expressions;
    this.inputs = inputs;
    this.type = type;
  }

  /** No rows of this form, to resolve columns against. */
  public static Dataset<Row> form(SparkSession spark, StructType type) {
    JavaSparkContext context =
        JavaSparkContext.fromSparkContext(
            ((org.apache.spark.sql.classic.SparkSession) spark).sparkContext());
    // Not a relation without rows: of that, the optimiser would leave nothing to bind to.
    return spark.createDataFrame(context.<Row>emptyRDD(), type);
  }

  /** No rows of a form that is written as JSON; any of its columns may be null. */
  public static Dataset<Row> form(SparkSession spark, String schema) {
    return form(spark, ((StructType) StructType.fromJson(schema)).asNullable());
  }

  /** These columns of rows of a form. */
  public static BoundColumns of(Dataset<Row> form, List<Column> columns) {
    Dataset<Row> selected = form.select(columns.toArray(new Column[0]));
    LogicalPlan plan =
        ((org.apache.spark.sql.classic.Dataset<Row>) selected).queryExecution().optimizedPlan();
    // Where nothing is computed, the optimiser has left the form itself.
    return plan instanceof Project project
        ? new BoundColumns(
            expressions(project.projectList()), project.child().output(), selected.schema())
        : new BoundColumns(expressions(plan.output()), plan.output(), selected.schema());
  }

  private static Seq<Expression> expressions(Seq<?> columns) {
    List<Expression> found =
        CollectionConverters.asJava(columns).stream().map(Expression.class::cast).toList();
    return CollectionConverters.asScala(found).toSeq();
  }

  public StructType type() {
    return type;
  }

  /** The columns of a row, whose bytes hold until the next one is asked for. */
  public UnsafeRow of(InternalRow row) {
    if (projection == null) {
      projection = UnsafeProjection.create(expressions, inputs);
    }
    return projection.apply(row);
  }
}
