package weft.kernel.spark.gate;

import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.FalseLiteral$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.unsafe.types.UTF8String;

/** The SQL function {@code weft_executor()}: the executor that computes it, as host and id. */
public final class ExecutorName extends GateExpression {
  private static final long serialVersionUID = 1L;

  private transient UTF8String name;

  ExecutorName() {
    super(List.of());
  }

  @Override
  public DataType dataType() {
    return DataTypes.StringType;
  }

  @Override
  public boolean nullable() {
    return false;
  }

  @Override
  public Object eval(InternalRow input) {
    return name();
  }

  /** Where this runs; called by generated code. */
  public UTF8String name() {
    if (name == null) {
      BlockManagerId here = SparkEnv.get().blockManager().blockManagerId();
      name = UTF8String.fromString(here.host() + "/" + here.executorId());
    }
    return name;
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    String self = context.addReferenceObj("executor", this, ExecutorName.class.getName());
    return result.copy(
        code("UTF8String %s = %s.name();\n".formatted(result.value(), self)),
        FalseLiteral$.MODULE$,
        result.value());
  }

  @Override
  Expression over(List<Expression> others) {
    return new ExecutorName();
  }

  @Override
  public String prettyName() {
    return "weft_executor";
  }
}
