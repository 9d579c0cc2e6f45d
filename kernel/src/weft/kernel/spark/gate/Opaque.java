package weft.kernel.spark.gate;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;

/**
 * A constant that Spark does not see as one, and so does not compute ahead. It reads the constant
 * texts now, today and the like as the clock says when they are cast to a time; a text that comes
 * with a record is only a text.
 */
final class Opaque extends GateExpression {
  private static final long serialVersionUID = 1L;

  Opaque(Expression constant) {
    super(List.of(constant));
  }

  @Override
  public Object eval(InternalRow input) {
    return part(0).eval(input);
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    return part(0).genCode(context);
  }

  @Override
  Expression over(List<Expression> others) {
    return new Opaque(others.get(0));
  }

  @Override
  public String prettyName() {
    return "weft_opaque";
  }
}
