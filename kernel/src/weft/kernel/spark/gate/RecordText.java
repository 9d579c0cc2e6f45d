package weft.kernel.spark.gate;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.json.StructsToJsonEvaluator;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Map$;
import weft.kernel.gate.Budget;
import weft.kernel.gate.TextSizes;

/**
 * The SQL function {@code weft_record(column, …)}: a record as JSON, for the letter that tells of
 * its death. Null when it cannot be written, because a dead record must not fail its batch by its
 * obituary.
 */
public final class RecordText extends GateExpression {
  private static final long serialVersionUID = 1L;

  private final List<String> names;
  private transient StructsToJsonEvaluator writer;
  private transient StructType type;

  private RecordText(List<Expression> columns, List<String> names) {
    super(columns);
    this.names = names;
  }

  static RecordText of(List<Expression> columns) {
    return new RecordText(columns, names(columns));
  }

  /** What columns are called in JSON. */
  static List<String> names(List<Expression> columns) {
    return columns.stream().map(RecordText::name).toList();
  }

  private static String name(Expression column) {
    if (column instanceof UnresolvedAttribute attribute) {
      return attribute.nameParts().last();
    } else if (column instanceof GetStructField field) {
      return field.extractFieldName();
    }
    return ((NamedExpression) column).name();
  }

  @Override
  public DataType dataType() {
    return DataTypes.StringType;
  }

  @Override
  public boolean nullable() {
    return true;
  }

  @Override
  public Object eval(InternalRow input) {
    return write(parts().stream().map(part -> part.eval(input)).toArray());
  }

  /** The JSON of these columns, or null; called by generated code. */
  public Object write(Object[] values) {
    if (writer == null) {
      type = new StructType();
      for (int at = 0; at < names.size(); at++) {
        type = type.add(names.get(at), part(at).dataType());
      }
      writer =
          new StructsToJsonEvaluator(
              Map$.MODULE$.<String, String>empty(), type, Option.apply("UTC"));
    }
    try {
      GenericInternalRow row = new GenericInternalRow(values);
      return TextSizes.of(row, type) > Budget.VALUE_BYTES ? null : writer.evaluate(row);
    } catch (RuntimeException e) {
      writer = null;
      return null;
    }
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    String self = context.addReferenceObj("record", this, RecordText.class.getName());
    StringBuilder code = new StringBuilder();
    String values = context.freshName("values");
    code.append("Object[] %s = new Object[%d];\n".formatted(values, parts().size()));
    for (int at = 0; at < parts().size(); at++) {
      ExprCode part = part(at).genCode(context);
      code.append(part.code())
          .append(
              "\nif (!%s) {\n  %s[%d] = %s;\n}\n"
                  .formatted(part.isNull(), values, at, part.value()));
    }
    code.append(
        "UTF8String %s = (UTF8String) %s.write(%s);\nboolean %s = %s == null;\n"
            .formatted(result.value(), self, values, result.isNull(), result.value()));
    return result.copy(code(code.toString()), result.isNull(), result.value());
  }

  @Override
  Expression over(List<Expression> others) {
    return new RecordText(others, names);
  }

  @Override
  Object mark() {
    return names;
  }

  @Override
  public String prettyName() {
    return "weft_record";
  }
}
