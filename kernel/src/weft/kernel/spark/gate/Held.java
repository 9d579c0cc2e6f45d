package weft.kernel.spark.gate;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.EmptyBlock$;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.JavaCode$;
import org.apache.spark.sql.types.DataType;

/**
 * A value that was computed already: it stands in an expression where the one that computed it
 * stood.
 */
final class Held extends GateExpression {
  private static final long serialVersionUID = 1L;
  private static final AtomicLong NUMBERS = new AtomicLong();

  private final long number = NUMBERS.incrementAndGet();
  private final DataType type;
  private final boolean isNullable;
  private transient Object value;
  private transient ExprCode code;

  Held(Expression computed) {
    super(List.of());
    this.type = computed.dataType();
    this.isNullable = computed.nullable();
  }

  void set(Object computed) {
    this.value = computed;
  }

  /**
   * Code that keeps what was computed in fields, which every method of the generated class sees.
   */
  String keep(CodegenContext context, ExprCode computed) {
    String isNull = field(context, CodeGenerator.JAVA_BOOLEAN(), "heldIsNull");
    String held = field(context, CodeGenerator.javaType(type), "held");
    code =
        new ExprCode(
            EmptyBlock$.MODULE$,
            JavaCode$.MODULE$.isNullGlobal(isNull),
            JavaCode$.MODULE$.global(held, type));
    return "%s\n%s = %s;\n%s = %s;\n"
        .formatted(computed.code(), isNull, computed.isNull(), held, computed.value());
  }

  private static String field(CodegenContext context, String type, String name) {
    return context.addMutableState(type, name, context.addMutableState$default$3(), false, true);
  }

  /** The field that says whether it is null. */
  String isNullField() {
    return code.isNull().toString();
  }

  /** The field as an object, null where it is. */
  String boxed() {
    return "(%s ? null : (Object) (%s))".formatted(code.isNull(), code.value());
  }

  @Override
  public DataType dataType() {
    return type;
  }

  @Override
  public boolean nullable() {
    return isNullable;
  }

  @Override
  public Object eval(InternalRow input) {
    return value;
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    return code;
  }

  @Override
  Expression over(List<Expression> others) {
    return this;
  }

  @Override
  Object mark() {
    return number;
  }
}
