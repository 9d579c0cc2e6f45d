package weft.kernel.spark.gate;

import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.json.StructsToJsonEvaluator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An expression that keeps a half-made result in itself, and after a failure is replaced by one
 * that does not.
 *
 * <p>Spark makes maps and writes texts in buffers that it empties when it is done, and keeps the
 * last format it has read. A record that fails in between would leave its own to the next one.
 */
final class Renewed extends GateExpression implements CodegenFallback {
  private static final long serialVersionUID = 1L;
  private static final Set<String> KEEPING =
      Set.of(
          "CreateMap",
          "MapConcat",
          "MapFromArrays",
          "MapFromEntries",
          "TransformKeys",
          "CsvToStructs",
          "FormatNumber",
          "StructsToCsv",
          "StructsToJsonEvaluator.evaluate");

  private transient Expression fresh;

  private Renewed(Expression keeping) {
    super(List.of(keeping));
  }

  /** The expression, renewed where it is one that needs it, or meters one. */
  static Expression of(Expression expression) {
    Expression call = expression instanceof Metered metered ? metered.call() : expression;
    return KEEPING.contains(KnownExpressions.name(call)) ? new Renewed(expression) : expression;
  }

  @Override
  public Object eval(InternalRow input) {
    if (fresh == null) {
      fresh = part(0);
    }
    boolean isDone = false;
    try {
      Object value = fresh.eval(input);
      isDone = true;
      return value;
    } finally {
      fresh = isDone ? fresh : copy(part(0));
    }
  }

  private static Expression copy(Expression expression) {
    if (expression instanceof Metered metered) {
      return metered.over(List.of(copy(metered.call())));
    }
    List<Expression> parts =
        CollectionConverters.asJava(expression.children()).stream().map(Renewed::writer).toList();
    return expression.withNewChildrenInternal(CollectionConverters.asScala(parts).toIndexedSeq());
  }

  /** A writer that is written out as a constant, made anew. */
  private static Expression writer(Expression part) {
    return part instanceof Literal literal
            && literal.value() instanceof StructsToJsonEvaluator writer
        ? new Literal(
            new StructsToJsonEvaluator(writer.options(), writer.inputSchema(), writer.timeZoneId()),
            literal.dataType())
        : part;
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    return CodegenFallback.super.doGenCode(context, result);
  }

  @Override
  Expression over(List<Expression> others) {
    return new Renewed(others.get(0));
  }

  @Override
  public String prettyName() {
    return "weft_renewed";
  }
}
