package weft.kernel.spark.gate;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkThrowable;
import org.apache.spark.TaskKilledException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.ConditionalExpression;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.FalseLiteral$;
import org.apache.spark.sql.catalyst.expressions.codegen.JavaCode$;
import org.apache.spark.sql.catalyst.expressions.codegen.TrueLiteral$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.Seq;
import weft.kernel.gate.Budget;
import weft.kernel.gate.TooMuchException;

/**
 * The SQL function {@code weft_try(spent, expr, …)}: the values of expressions, or why they have
 * none.
 *
 * <p>{@code spent} is what the functions of the steps before have spent of the record's {@link
 * Budget}. The result has {@code error}, {@code spent} as it is afterwards or null when none of it
 * is counted, and {@code v0}, {@code v1} and so on; when one expression fails, none has a value.
 *
 * <p>Its expressions get their guards when Spark has resolved them, before it computes constants,
 * and again when code is made, after it has rewritten them. They count as conditional, so that
 * Spark does not compute a part that several of them share outside, where nothing catches.
 */
public final class TryValue extends GateExpression implements ConditionalExpression {
  public static final String NAME = "weft_try";

  private static final long serialVersionUID = 1L;
  private static final int VALUES = 2;
  private static final String ADVICE = " If necessary set \"spark.sql.ansi.enabled\"";
  private static final String STATE = " SQLSTATE: ";
  private static final String CONTEXT = "\n== ";

  private final boolean isGuarded;
  private transient List<Expression> guarded;
  private transient Boolean isCounted;

  private TryValue(List<Expression> children, boolean isGuarded) {
    super(children);
    this.isGuarded = isGuarded;
  }

  static TryValue of(List<Expression> children) {
    if (children.size() < 2) {
      throw new IllegalArgumentException(
          NAME + " takes what is spent and at least one expression.");
    }
    return guardedOnce(children, false);
  }

  private static TryValue guardedOnce(List<Expression> children, boolean isGuarded) {
    boolean isReady = !isGuarded && children.stream().allMatch(Expression::resolved);
    return isReady
        ? new TryValue(children.stream().map(Gatekeeper::guarded).toList(), true)
        : new TryValue(children, isGuarded);
  }

  @Override
  Expression over(List<Expression> others) {
    return guardedOnce(others, isGuarded);
  }

  /** Whether any of it is charged; most expressions are not, and pay nothing. */
  private boolean isCounted() {
    return guarded().stream().anyMatch(each -> Trees.any(each, TryValue::isCharged));
  }

  private static boolean isCharged(Expression expression) {
    return expression instanceof Metered
        || expression instanceof PatternCall
        || expression instanceof Round
        || expression instanceof Kept;
  }

  /** What is spent, and the expressions, with their guards as Spark has left or moved them. */
  private List<Expression> guarded() {
    if (guarded == null) {
      guarded = parts().stream().map(Gatekeeper::guardedAgain).toList();
    }
    return guarded;
  }

  @Override
  public DataType dataType() {
    StructType type =
        new StructType()
            .add("error", DataTypes.StringType, true)
            .add("spent", DataTypes.LongType, true);
    for (int at = 1; at < parts().size(); at++) {
      type = type.add("v" + (at - 1), part(at).dataType(), true);
    }
    return type;
  }

  @Override
  public boolean nullable() {
    return false;
  }

  @Override
  public String prettyName() {
    return NAME;
  }

  @Override
  public Object eval(InternalRow input) {
    List<Expression> all = guarded();
    if (isCounted == null) {
      isCounted = isCounted();
    }
    Object[] fields = new Object[VALUES - 1 + all.size()];
    Budget budget = isCounted ? begin(all.get(0).eval(input)) : null;
    try {
      for (int at = 1; at < all.size(); at++) {
        fields[VALUES - 1 + at] = all.get(at).eval(input);
      }
    } catch (Exception | StackOverflowError | AssertionError e) {
      fields = failed(fields.length, e);
    }
    fields[1] = budget == null ? null : budget.spent();
    return new GenericInternalRow(fields);
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    List<Expression> all = guarded();
    String fields = context.freshName("fields");
    String error = context.freshName("error");
    String budget = context.freshName("budget");
    int count = VALUES - 1 + all.size();
    List<String> values = new ArrayList<>();
    for (int at = 1; at < all.size(); at++) {
      ExprCode value = code(context, all.get(at));
      // In a block of its own: Java's small compiler remembers, at every statement, each variable
      // in sight.
      values.add(
          "{\n%s\nif (!%s) {\n  %s[%d] = %s;\n}\n}\n"
              .formatted(value.code(), value.isNull(), fields, VALUES - 1 + at, value.value()));
    }
    ExprCode spent = all.get(0).genCode(context);
    String begin =
        !isCounted()
            ? ""
            : "%s\n%s %s = %s.begin(%s ? null : (Object) (%s));\n"
                .formatted(
                    spent.code(),
                    Budget.class.getName(),
                    budget,
                    getClass().getName(),
                    spent.isNull(),
                    spent.value());
    String end = isCounted() ? "%s[1] = %s.spent();\n".formatted(fields, budget) : "";
    String code =
        """
        Object[] %1$s = new Object[%2$d];
        %3$s
        try {
          %4$s
        } catch (Exception %5$s) {
          %1$s = %6$s.failed(%2$d, %5$s);
        } catch (StackOverflowError %5$s) {
          %1$s = %6$s.failed(%2$d, %5$s);
        } catch (AssertionError %5$s) {
          %1$s = %6$s.failed(%2$d, %5$s);
        }
        %7$s
        InternalRow %8$s = new %9$s(%1$s);
        """
            .formatted(
                fields,
                count,
                begin,
                String.join("", values),
                error,
                getClass().getName(),
                end,
                result.value(),
                GenericInternalRow.class.getName());
    return result.copy(code(code), FalseLiteral$.MODULE$, result.value());
  }

  /**
   * The code of an expression; one that fails as its code is made, for what it has written out,
   * fails for each row.
   */
  private static ExprCode code(CodegenContext context, Expression expression) {
    try {
      return expression.genCode(context);
    } catch (RuntimeException e) {
      String reason = context.addReferenceObj("reason", explain(e).toString(), "String");
      return new ExprCode(
          code("%s.fail(%s);\n".formatted(TryValue.class.getName(), reason)),
          TrueLiteral$.MODULE$,
          JavaCode$.MODULE$.defaultLiteral(expression.dataType()));
    }
  }

  /** Fails for a reason that was known before; called by generated code. */
  public static void fail(String reason) {
    throw new TooMuchException(reason);
  }

  /** The budget of a record that has spent so much; called by generated code. */
  public static Budget begin(Object spent) {
    Budget budget = Budget.current();
    budget.begin(spent == null ? 0 : (Long) spent);
    return budget;
  }

  /** The fields of a failure; called by generated code. */
  public static Object[] failed(int count, Throwable error) {
    Object[] fields = new Object[count];
    fields[0] = explain(error);
    return fields;
  }

  /** The message of what went wrong in one line, without the place in the query. */
  static UTF8String explain(Throwable error) {
    if (error instanceof TaskKilledException killed) {
      throw killed;
    }
    String message = error.getMessage();
    if (error instanceof TooMuchException) {
      return UTF8String.fromString(message);
    }
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
}
