package weft.kernel.spark.gate;

import java.util.List;
import java.util.function.Function;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry;
import org.apache.spark.sql.catalyst.expressions.Expression;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/** The gate's SQL functions. */
public final class Functions {
  private Functions() {}

  /** Makes them known to a session. */
  public static void register(SparkSession spark) {
    FunctionRegistry registry =
        ((org.apache.spark.sql.classic.SparkSession) spark).sessionState().functionRegistry();
    register(registry, TryValue.NAME, TryValue::of);
    register(registry, "weft_record", RecordText::of);
    register(registry, "weft_kept", arguments -> new Kept(arguments.get(0)));
    register(registry, "weft_hash", RecordDigest::of);
    register(registry, "weft_made", MadeRowId::of);
    register(registry, "weft_executor", arguments -> new ExecutorName());
  }

  private static void register(
      FunctionRegistry registry, String name, Function<List<Expression>, Expression> make) {
    registry.createOrReplaceTempFunction(
        name,
        new AbstractFunction1<Seq<Expression>, Expression>() {
          @Override
          public Expression apply(Seq<Expression> arguments) {
            return make.apply(CollectionConverters.asJava(arguments));
          }
        },
        "built-in");
  }
}
