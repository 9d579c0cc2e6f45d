package weft.kernel;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.SparkThrowable;
import org.apache.spark.TaskKilledException;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.ConditionalExpression;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.FalseLiteral$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/**
 * The SQL function {@code weft_try(expr)}: the value of an expression, or why it has none.
 *
 * <p>Its input counts as conditional, so that Spark does not compute a part of it that several expressions share
 * outside, where nothing catches.
 */
public final class TryValue extends Expression implements ConditionalExpression, Serializable {
  private static final long serialVersionUID = 1L;
  private static final String NAME = "weft_try";
  private static final String ADVICE = " If necessary set \"spark.sql.ansi.enabled\"";
  private static final String STATE = " SQLSTATE: ";
  private static final String CONTEXT = "\n== ";

  private final Expression child;

  TryValue(Expression child) {
    this.child = child;
  }

  /** Makes the function known to a session. */
  static void register(SparkSession spark) {
    ((org.apache.spark.sql.classic.SparkSession) spark)
        .sessionState()
        .functionRegistry()
        .createOrReplaceTempFunction(
            NAME,
            new AbstractFunction1<Seq<Expression>, Expression>() {
              @Override
              public Expression apply(Seq<Expression> arguments) {
                if (arguments.length() != 1) {
                  throw new IllegalArgumentException(NAME + " takes one expression.");
                }
                return new TryValue(arguments.apply(0));
              }
            },
            "built-in");
  }

  @Override
  public Seq<Expression> children() {
    return seq(List.of(child));
  }

  @Override
  public DataType dataType() {
    return new StructType()
        .add("value", child.dataType(), true)
        .add("error", DataTypes.StringType, true);
  }

  @Override
  public boolean nullable() {
    return false;
  }

  @Override
  public boolean foldable() {
    return child.foldable();
  }

  @Override
  public String prettyName() {
    return NAME;
  }

  @Override
  public Object eval(InternalRow input) {
    try {
      return new GenericInternalRow(new Object[] {child.eval(input), null});
    } catch (Exception | StackOverflowError e) {
      return new GenericInternalRow(new Object[] {null, explain(e)});
    }
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    ExprCode inner = child.genCode(context);
    String fields = context.freshName("fields");
    String error = context.freshName("error");
    String code =
        """
        Object[] %1$s = new Object[2];
        try {
          %2$s
          if (!%3$s) {
            %1$s[0] = %4$s;
          }
        } catch (Exception %5$s) {
          %1$s[1] = weft.kernel.TryValue.explain(%5$s);
        } catch (StackOverflowError %5$s) {
          %1$s[1] = weft.kernel.TryValue.explain(%5$s);
        }
        InternalRow %6$s = new %7$s(%1$s);
        """
            .formatted(
                fields,
                inner.code(),
                inner.isNull(),
                inner.value(),
                error,
                result.value(),
                GenericInternalRow.class.getName());
    return result.copy(
        new CodeBlock(seq(List.of(code)), seq(List.of())), FalseLiteral$.MODULE$, result.value());
  }

  /** The message of what went wrong in one line, without the place in the query; called by generated code. */
  public static UTF8String explain(Throwable error) {
    if (error instanceof TaskKilledException killed) {
      throw killed;
    }
    String message = error.getMessage();
    if (!(error instanceof SparkThrowable spark)) {
      String kind = error.getClass().getSimpleName();
      return UTF8String.fromString(message == null ? kind : kind + ": " + message);
    }
    String text = before(before(before(message, CONTEXT), STATE), ADVICE);
    String condition = spark.getCondition();
    return UTF8String.fromString(
        condition == null || text.contains(condition) ? text : "[" + condition + "] " + text);
  }

  private static String before(String text, String mark) {
    int end = text.indexOf(mark);
    return end < 0 ? text : text.substring(0, end);
  }

  @Override
  public Seq<Expression> alwaysEvaluatedInputs() {
    return seq(List.of());
  }

  @Override
  public ConditionalExpression withNewAlwaysEvaluatedInputs(Seq<Expression> inputs) {
    return this;
  }

  @Override
  public Seq<Seq<Expression>> branchGroups() {
    return seq(List.of());
  }

  @Override
  public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
    return new TryValue(children.apply(0));
  }

  private static <T> Seq<T> seq(List<T> list) {
    return CollectionConverters.asScala(list).toSeq();
  }

  @Override
  public int productArity() {
    return 1;
  }

  @Override
  public Object productElement(int position) {
    return child;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof TryValue;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TryValue value && value.child.equals(child);
  }

  @Override
  public int hashCode() {
    return NAME.hashCode() * 31 + child.hashCode();
  }
}
