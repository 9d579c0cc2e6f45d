package weft.kernel.spark;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Columns that only Catalyst, the part of Spark that plans queries, has a form for. */
public final class Catalyst {
  private Catalyst() {}

  /** A floating column with one zero and one NaN, as SQL groups them. */
  public static Column normalized(Column column) {
    return ExpressionUtils.column(new NormalizeNaNAndZero(ExpressionUtils.expression(column)));
  }

  /**
   * A method of an object of ours, called for every row. Nulls go to it too, and it never returns
   * null.
   *
   * @param target the object, which is public, as is the method
   * @param type the class under which generated code knows it
   */
  public static Column call(
      Object target, Class<?> type, String method, DataType result, Column... arguments) {
    List<Expression> given = Arrays.stream(arguments).map(ExpressionUtils::expression).toList();
    return ExpressionUtils.column(
        new Invoke(
            Literal.create(target, new ObjectType(type)),
            method,
            result,
            CollectionConverters.asScala(given).toSeq(),
            none(),
            false,
            false,
            true));
  }

  @SuppressWarnings("unchecked")
  private static <T> Seq<T> none() {
    return (Seq<T>) Nil$.MODULE$;
  }
}
