package weft.kernel.spark.gate;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.FalseLiteral$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.hash.StepHash;

/**
 * The SQL function {@code weft_hash(id, column, …)}: the hash that a record with these columns has
 * when it is written.
 */
public final class RecordDigest extends GateExpression {
  private static final long serialVersionUID = 1L;

  private transient StepHash hash;

  private RecordDigest(List<Expression> parts) {
    super(parts);
  }

  static RecordDigest of(List<Expression> parts) {
    if (parts.isEmpty()) {
      throw new IllegalArgumentException("weft_hash takes the id of a record, and its columns.");
    }
    return new RecordDigest(parts);
  }

  @Override
  public DataType dataType() {
    return DataTypes.BinaryType;
  }

  @Override
  public boolean nullable() {
    return false;
  }

  /** What hashes the records of one task; called by generated code. */
  public StepHash begin() {
    if (hash == null) {
      hash =
          new StepHash(
              parts().stream().skip(1).map(Expression::dataType).toArray(DataType[]::new));
    }
    hash.begin();
    return hash;
  }

  @Override
  public Object eval(InternalRow input) {
    StepHash record = begin();
    for (int at = 1; at < parts().size(); at++) {
      Object value = part(at).eval(input);
      if (value != null) {
        record.put(at, value);
      }
    }
    return record.end((UTF8String) part(0).eval(input));
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    String self = context.addReferenceObj("hash", this, RecordDigest.class.getName());
    String record = context.freshName("record");
    StringBuilder code = new StringBuilder();
    code.append("%s %s = %s.begin();\n".formatted(StepHash.class.getName(), record, self));
    for (int at = 1; at < parts().size(); at++) {
      ExprCode part = part(at).genCode(context);
      code.append(part.code())
          .append(
              "\nif (!%s) {\n  %s.put(%d, (%s) %s);\n}\n"
                  .formatted(part.isNull(), record, at, type(part(at)), part.value()));
    }
    ExprCode id = part(0).genCode(context);
    code.append(id.code())
        .append(
            "\nbyte[] %s = %s.end(%s ? null : %s);\n"
                .formatted(result.value(), record, id.isNull(), id.value()));
    return result.copy(code(code.toString()), FalseLiteral$.MODULE$, result.value());
  }

  /** The type under which a column is given to the hash: its own, or that of any value. */
  private static String type(Expression part) {
    DataType type = part.dataType();
    String java = CodeGenerator.javaType(type);
    boolean hasOwn =
        CodeGenerator.isPrimitiveType(type)
            || java.equals("UTF8String")
            || java.equals("byte[]")
            || type instanceof DecimalType;
    return hasOwn ? java : "Object";
  }

  @Override
  Expression over(List<Expression> others) {
    return new RecordDigest(others);
  }

  @Override
  public String prettyName() {
    return "weft_hash";
  }
}
