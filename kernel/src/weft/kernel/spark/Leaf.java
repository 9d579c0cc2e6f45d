package weft.kernel.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2;
import org.apache.spark.sql.catalyst.types.DataTypeUtils$;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/** The one source that a streaming frame reads, and what the frame makes of its rows. */
public final class Leaf {
  private Leaf() {}

  /** The source of a streaming frame. */
  public static StreamingRelationV2 source(Dataset<Row> streaming) {
    List<LogicalPlan> leaves =
        CollectionConverters.asJava(plan(streaming).collectLeaves().toList());
    if (leaves.size() == 1 && leaves.get(0) instanceof StreamingRelationV2 source) {
      return source;
    }
    throw new IllegalArgumentException(
        "A query reads one source by each of its inputs, and not " + leaves + ".");
  }

  /** The columns that a source gives. */
  public static StructType schema(StreamingRelationV2 source) {
    return DataTypeUtils$.MODULE$.fromAttributes(attributes(source.output()));
  }

  @SuppressWarnings("unchecked") // a reference is an attribute
  private static Seq<Attribute> attributes(Seq<AttributeReference> output) {
    return (Seq<Attribute>) (Seq<?>) output;
  }

  private static LogicalPlan plan(Dataset<Row> frame) {
    return ((org.apache.spark.sql.classic.Dataset<Row>) frame).logicalPlan();
  }

  /** What a streaming frame makes of rows of its source. */
  public static Dataset<Row> over(Dataset<Row> rows, Dataset<Row> streaming) {
    LogicalPlan made =
        plan(streaming).transformUp(new Replaced(source(streaming), plan(rows)));
    return Dataset$.MODULE$.ofRows((SparkSession) rows.sparkSession(), made);
  }

  /** Has rows of the same columns stand for a source, under the names that are known above. */
  private static final class Replaced extends AbstractPartialFunction<LogicalPlan, LogicalPlan> {
    private final StreamingRelationV2 source;
    private final LogicalPlan rows;

    Replaced(StreamingRelationV2 source, LogicalPlan rows) {
      this.source = source;
      this.rows = rows;
    }

    @Override
    public boolean isDefinedAt(LogicalPlan plan) {
      return plan == source;
    }

    @Override
    public LogicalPlan apply(LogicalPlan plan) {
      List<Attribute> given = CollectionConverters.asJava(rows.output());
      List<AttributeReference> known = CollectionConverters.asJava(source.output());
      List<NamedExpression> columns = new ArrayList<>();
      for (int at = 0; at < known.size(); at++) {
        AttributeReference one = known.get(at);
        columns.add(
            new Alias(
                given.get(at),
                one.name(),
                one.exprId(),
                one.qualifier(),
                Option.empty(),
                Sequences.none()));
      }
      return new Project(Sequences.of(columns), rows);
    }
  }
}
