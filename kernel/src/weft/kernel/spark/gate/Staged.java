package weft.kernel.spark.gate;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;

/**
 * An expression that computes some values first, looks at them, and then computes a body in which
 * they stand.
 */
public abstract class Staged extends GateExpression {
  private static final long serialVersionUID = 1L;

  private transient Stages stages;

  /** What is computed first, what stands for it, and what is computed then. */
  record Stages(List<Expression> first, List<Held> held, Expression body, boolean isStrict) {}

  Staged(List<Expression> children) {
    super(children);
  }

  /**
   * How it is staged; {@code isStrict} says that it is null as soon as one of the first values is.
   */
  abstract Stages stage();

  /**
   * Looks at the first values; throws if the body must not be computed. Called by generated code.
   */
  public void look(Object[] values) {}

  /** Whether {@link #look} has anything to look for. */
  boolean looks() {
    return false;
  }

  final Stages stages() {
    if (stages == null) {
      stages = stage();
    }
    return stages;
  }

  @Override
  public final Object eval(InternalRow input) {
    Stages plan = stages();
    Object[] values = new Object[plan.first.size()];
    for (int at = 0; at < values.length; at++) {
      values[at] = plan.first.get(at).eval(input);
      if (plan.isStrict && values[at] == null) {
        return null;
      }
      plan.held.get(at).set(values[at]);
    }
    look(values);
    return plan.body.eval(input);
  }

  @Override
  public final ExprCode doGenCode(CodegenContext context, ExprCode result) {
    Stages plan = stages();
    if (Trees.any(plan.body, CodegenFallback.class::isInstance)) {
      return interpreted(context, result);
    }
    List<String> first = new ArrayList<>();
    List<String> boxed = new ArrayList<>();
    for (int at = 0; at < plan.first.size(); at++) {
      first.add(plan.held.get(at).keep(context, plan.first.get(at).genCode(context)));
      boxed.add(plan.held.get(at).boxed());
    }
    ExprCode body = plan.body.genCode(context);
    String inside =
        (looks() ? looking(context, boxed) : "")
            + "%s\n%s = %s;\n%s = %s;\n"
                .formatted(
                    body.code(), result.isNull(), body.isNull(), result.value(), body.value());
    for (int at = first.size() - 1; at >= 0; at--) {
      Held held = plan.held.get(at);
      inside =
          first.get(at)
              + (plan.isStrict && held.nullable()
                  ? "if (!%s) {\n%s}\n".formatted(held.isNullField(), inside)
                  : inside);
    }
    String declared =
        "boolean %s = true;\n%s %s = %s;\n"
            .formatted(
                result.isNull(),
                CodeGenerator.javaType(dataType()),
                result.value(),
                CodeGenerator.defaultValue(dataType(), false));
    return result.copy(code(declared + inside), result.isNull(), result.value());
  }

  private String looking(CodegenContext context, List<String> boxed) {
    String self = context.addReferenceObj("staged", this, Staged.class.getName());
    return "%s.look(new Object[] {%s});\n".formatted(self, String.join(", ", boxed));
  }
}
