package weft.kernel.spark.gate;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import weft.kernel.gate.Budget;
import weft.kernel.gate.Sizes;

/**
 * The SQL function {@code weft_kept(value)}: a value that is there already, charged because the
 * record gets it anew.
 */
public final class Kept extends GateExpression {
  private static final long serialVersionUID = 1L;

  Kept(Expression value) {
    super(List.of(value));
  }

  @Override
  public Object eval(InternalRow input) {
    Object value = part(0).eval(input);
    charge(value);
    return value;
  }

  /** Charges a value; called by generated code. */
  public void charge(Object value) {
    if (value != null) {
      Budget.current().make(Sizes.of(value, dataType()));
    }
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    ExprCode value = part(0).genCode(context);
    String self = context.addReferenceObj("kept", this, Kept.class.getName());
    return value.copy(
        code(
            "%s\n%s.charge(%s ? null : (Object) (%s));\n"
                .formatted(value.code(), self, value.isNull(), value.value())),
        value.isNull(),
        value.value());
  }

  @Override
  Expression over(List<Expression> others) {
    return new Kept(others.get(0));
  }

  @Override
  public String prettyName() {
    return "weft_kept";
  }
}
