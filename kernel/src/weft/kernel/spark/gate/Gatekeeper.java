package weft.kernel.spark.gate;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.ArrayAggregate;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.LambdaFunction;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.expressions.Substring;
import org.apache.spark.sql.catalyst.expressions.UTCTimestamp;
import org.apache.spark.sql.catalyst.expressions.With;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DatetimeType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import weft.kernel.gate.Model;
import weft.kernel.gate.Sizes;

/**
 * Puts its guards into an expression that Spark has resolved: what grows is charged before it is
 * made, patterns are matched in linear time, what would read the clock does not, and what is not
 * known is refused.
 *
 * <p>It goes by the classes of the installed Spark and not by the names of functions, so it sees
 * what Spark made of a name. Guarding twice is guarding once.
 */
final class Gatekeeper {
  /**
   * What is looked for, or trimmed, when it is written out and no longer than this, takes no time
   * to speak of.
   */
  private static final int SHORT = 64;

  private static final String MAKE_VALID = "UTF8String.makeValid";

  private final Map<Expression, Expression> done = new IdentityHashMap<>();

  private final boolean isOptimized;

  private Gatekeeper(boolean isOptimized) {
    this.isOptimized = isOptimized;
  }

  /** The expression with its guards; refuses one that holds something unknown. */
  static Expression guarded(Expression expression) {
    return new Gatekeeper(false).visit(expression, false);
  }

  /**
   * The same for what Spark has made of a guarded expression; what is new in it is Spark's own, and
   * nobody's trick.
   */
  static Expression guardedAgain(Expression expression) {
    return new Gatekeeper(true).visit(expression, false);
  }

  /**
   * Refuses an expression that holds something unknown; its own guards, if it needs any, are
   * elsewhere.
   */
  static void refuseUnknown(Expression expression) {
    if (expression instanceof RuntimeReplaceable replaceable) {
      refuseUnknown(replaceable.replacement());
      return;
    }
    if (expression instanceof With with) {
      refuseUnknown(Let.of(with));
      return;
    }
    KnownExpressions.guard(expression);
    CollectionConverters.asJava(expression.children()).forEach(Gatekeeper::refuseUnknown);
  }

  private Expression visit(Expression expression, boolean inLoop) {
    Expression before = done.get(expression);
    if (before == null) {
      before = guard(expression, inLoop);
      done.put(expression, before);
    }
    return before;
  }

  private Expression guard(Expression expression, boolean inLoop) {
    if (expression instanceof RuntimeReplaceable replaceable) {
      return visit(replaceable.replacement(), inLoop);
    }
    if (expression instanceof With with) {
      return visit(Let.of(with), inLoop);
    }
    if (expression instanceof Metered metered && !metered.isIntact()) {
      return visit(metered.part(0), inLoop);
    }
    String guard = guardOf(expression);
    if (expression instanceof Renewed) {
      return Trees.over(
          expression, call -> call instanceof Metered ? visit(call, inLoop) : over(call, inLoop));
    }
    if (isGuard(expression)) {
      return Trees.over(expression, call -> over(call, inLoop));
    }
    Expression inner = over(expression, inLoop);
    return switch (guard) {
      case KnownExpressions.LOOP, KnownExpressions.LOOP_KEEPING ->
          isFold(inner) ? new Kept(inner) : Renewed.of(inner);
      case KnownExpressions.OWN, KnownExpressions.CHEAP, KnownExpressions.CONDITIONAL -> inner;
      case KnownExpressions.PATTERN -> PatternCall.of(inner);
      case KnownExpressions.PLAIN -> Renewed.of(plain(inner, inLoop));
      default -> Renewed.of(metered(inner, Model.named(guard), inLoop));
    };
  }

  private String guardOf(Expression expression) {
    return isOptimized
        ? KnownExpressions.find(expression).orElse(KnownExpressions.PLAIN)
        : KnownExpressions.guard(expression);
  }

  /** Whether an expression is there to guard the one below it, which needs no other guard then. */
  private static boolean isGuard(Expression expression) {
    Expression below = expression.children().isEmpty() ? null : expression.children().apply(0);
    return expression instanceof Metered
        || (expression instanceof Kept && isFold(below))
        || (KnownExpressions.name(expression).equals(MAKE_VALID) && below instanceof Cast);
  }

  private static boolean isFold(Expression expression) {
    return expression instanceof ArrayAggregate;
  }

  private Expression over(Expression expression, boolean inLoop) {
    boolean isKeeping = guardOf(expression).equals(KnownExpressions.LOOP_KEEPING);
    return Trees.over(
        expression,
        child ->
            child instanceof LambdaFunction lambda
                ? round(lambda, isKeeping)
                : visit(child, inLoop));
  }

  /** A lambda whose every call is counted. */
  private Expression round(LambdaFunction lambda, boolean isKeeping) {
    Expression body = lambda.function();
    Expression counted =
        body instanceof Round ? over(body, true) : new Round(visit(body, true), isKeeping);
    return counted == body
        ? lambda
        : new LambdaFunction(counted, lambda.arguments(), lambda.hidden());
  }

  private static Expression plain(Expression inner, boolean inLoop) {
    if (inner instanceof Cast cast) {
      return cast(cast, inLoop);
    }
    if (inner instanceof Substring && inner.dataType() instanceof BinaryType) {
      return Metered.of(inner, Model.SLICE);
    }
    if (KnownExpressions.name(inner).equals("ParseUrlEvaluator.evaluate")) {
      PatternCall.refuseKey(inner);
    }
    if (inner instanceof UTCTimestamp) {
      // A zone that is written out is read where the code of a task begins, and nothing catches
      // there.
      return linear(Trees.over(inner, each -> each.foldable() ? new Opaque(each) : each), inLoop);
    }
    return linear(inner, inLoop);
  }

  private static Expression cast(Cast cast, boolean inLoop) {
    DataType from = cast.child().dataType();
    DataType to = cast.dataType();
    boolean isText = from instanceof StringType;
    if (isText
        && to instanceof DatetimeType
        && cast.child().foldable()
        && !isWrittenOut(cast.child())) {
      return Trees.over(cast, Opaque::new);
    }
    if (isText && to instanceof DecimalType && !cast.child().foldable()) {
      return Metered.of(cast, Model.NUMBER);
    }
    if (from instanceof BinaryType && to instanceof StringType) {
      // Spark's texts take it on trust that they are UTF-8, and read and write beside themselves
      // where they are not.
      return new Invoke(linear(cast, inLoop), "makeValid", to, none(), none(), true, true, true);
    }
    boolean isNested = Sizes.varies(from) && !isText && !(from instanceof BinaryType);
    return isNested ? Metered.of(cast, Model.WRITTEN) : linear(cast, inLoop);
  }

  /**
   * Whether a constant is a literal that begins with a digit, so that it can only be a date or time
   * written out.
   */
  private static boolean isWrittenOut(Expression constant) {
    if (!(constant instanceof Literal literal) || !(literal.value() instanceof UTF8String text)) {
      return constant instanceof Literal;
    }
    return text.numBytes() > 0 && Character.isDigit(text.getByte(0));
  }

  private static Expression metered(Expression inner, Model model, boolean inLoop) {
    List<Expression> children = CollectionConverters.asJava(inner.children());
    boolean isSearch = model == Model.FIND || model == Model.PRODUCT;
    if (isSearch && (children.size() < 2 || children.stream().anyMatch(Gatekeeper::isShort))) {
      return linear(inner, inLoop);
    }
    return Metered.of(inner, model);
  }

  private static boolean isShort(Expression argument) {
    return argument instanceof Literal literal
        && Sizes.varies(literal.dataType())
        && Sizes.of(literal.value(), literal.dataType()) <= SHORT;
  }

  /**
   * What reads all of its arguments is charged for it where they may be large, or where it is done
   * many times.
   */
  private static Expression linear(Expression inner, boolean inLoop) {
    List<Expression> children = CollectionConverters.asJava(inner.children());
    boolean reads = children.stream().anyMatch(child -> Sizes.varies(child.dataType()));
    return reads && (inLoop || children.stream().anyMatch(Gatekeeper::isGrown))
        ? Metered.of(inner, Model.LINEAR)
        : inner;
  }

  private static boolean isGrown(Expression expression) {
    return Trees.any(
        expression,
        each -> each instanceof Metered || each instanceof PatternCall || each instanceof Round);
  }

  @SuppressWarnings("unchecked")
  private static <T> Seq<T> none() {
    return (Seq<T>) Nil$.MODULE$;
  }
}
