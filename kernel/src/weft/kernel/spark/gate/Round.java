package weft.kernel.spark.gate;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import weft.kernel.gate.Budget;
import weft.kernel.gate.Sizes;

/**
 * The body of a lambda: each call of it is work, and its results are charged where the loop keeps
 * them.
 */
final class Round extends GateExpression {
  private static final long serialVersionUID = 1L;
  private static final long UNITS_PER_ROUND = 128;
  private static final long UNITS_PER_NODE = 24;

  private final boolean isKept;
  private final long units;

  Round(Expression body, boolean isKept) {
    super(List.of(body));
    this.isKept = isKept;
    this.units = UNITS_PER_ROUND + UNITS_PER_NODE * Trees.size(body);
  }

  @Override
  public Object eval(InternalRow input) {
    Budget budget = Budget.current();
    long before = budget.beginRound(units);
    Object result = part(0).eval(input);
    budget.endRound(before, isKept ? Sizes.SLOT + Sizes.of(result, dataType()) : 0);
    return result;
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    return interpreted(context, result);
  }

  @Override
  Expression over(List<Expression> others) {
    return new Round(others.get(0), isKept);
  }

  @Override
  Object mark() {
    return isKept;
  }

  @Override
  public String prettyName() {
    return "weft_round";
  }
}
