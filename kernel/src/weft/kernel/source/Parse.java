package weft.kernel.source;

import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Columns that parse records, for the Python side: a struct of the declared columns and of the
 * reason why not.
 */
public final class Parse {
  private Parse() {}

  /**
   * Parse JSON objects; {@code schema} is in Spark's JSON form, {@code required} a column's name or
   * null.
   */
  public static Column json(Column value, Column header, String schema, String required) {
    return column(value, header, new JsonRecords((StructType) DataType.fromJson(schema), required));
  }

  /**
   * Parse CSV lines, whose columns are named by {@code header} or, where that is null, in declared
   * order.
   */
  public static Column csv(
      Column value, Column header, String schema, String required, String separator) {
    StructType columns = (StructType) DataType.fromJson(schema);
    return column(value, header, new CsvRecords(columns, required, separator.charAt(0)));
  }

  private static Column column(Column value, Column header, RecordParser parser) {
    Expression target = Literal.create(parser, new ObjectType(RecordParser.class));
    Seq<Expression> arguments =
        CollectionConverters.asScala(
                List.of(ExpressionUtils.expression(value), ExpressionUtils.expression(header)))
            .toSeq();
    // Nulls go to the parser too (it has a word to say about them), and it never returns null
    // itself.
    return ExpressionUtils.column(
        new Invoke(
            target, "parse", parser.resultType(), arguments, emptyTypes(), false, false, true));
  }

  @SuppressWarnings("unchecked")
  private static <T> Seq<T> emptyTypes() {
    return (Seq<T>) scala.collection.immutable.Nil$.MODULE$;
  }
}
