package weft.kernel.spark.gate;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** What the gate's own expressions have in common: a list of children, and equality by them. */
public abstract class GateExpression extends Expression implements Serializable {
  private static final long serialVersionUID = 1L;

  private final List<Expression> children;

  GateExpression(List<Expression> children) {
    this.children = List.copyOf(children);
  }

  /** The same expression over other children. */
  abstract Expression over(List<Expression> others);

  /** What beside its children tells it from others of its class. */
  Object mark() {
    return getClass().getSimpleName();
  }

  final List<Expression> parts() {
    return children;
  }

  final Expression part(int at) {
    return children.get(at);
  }

  @Override
  public Seq<Expression> children() {
    return seq(children);
  }

  @Override
  public DataType dataType() {
    return part(0).dataType();
  }

  @Override
  public boolean nullable() {
    return part(0).nullable();
  }

  @Override
  public final Expression withNewChildrenInternal(IndexedSeq<Expression> others) {
    return over(CollectionConverters.asJava(others));
  }

  /** Code that calls {@link #eval}, for what is not worth code of its own. */
  final ExprCode interpreted(CodegenContext context, ExprCode result) {
    String self = context.addReferenceObj("gate", this, GateExpression.class.getName());
    String found = context.freshName("found");
    String type = CodeGenerator.javaType(dataType());
    return result.copy(
        code(
            """
            Object %1$s = %2$s.eval(%3$s);
            boolean %4$s = %1$s == null;
            %5$s %6$s = %4$s ? %7$s : (%8$s) %1$s;
            """
                .formatted(
                    found,
                    self,
                    context.INPUT_ROW() == null ? "null" : context.INPUT_ROW(),
                    result.isNull(),
                    type,
                    result.value(),
                    CodeGenerator.defaultValue(dataType(), false),
                    CodeGenerator.boxedType(dataType()))),
        result.isNull(),
        result.value());
  }

  static CodeBlock code(String text) {
    return new CodeBlock(seq(List.of(text)), seq(List.of()));
  }

  static <T> Seq<T> seq(List<T> list) {
    return CollectionConverters.asScala(list).toSeq();
  }

  @Override
  public int productArity() {
    return children.size() + 1;
  }

  @Override
  public Object productElement(int position) {
    return position == 0 ? mark() : part(position - 1);
  }

  @Override
  public boolean canEqual(Object other) {
    return other != null && other.getClass() == getClass();
  }

  @Override
  public boolean equals(Object other) {
    return canEqual(other)
        && other instanceof GateExpression expression
        && expression.mark().equals(mark())
        && expression.children.equals(children);
  }

  @Override
  public int hashCode() {
    return mark().hashCode() * 31 + children.hashCode();
  }

  @Override
  public String toString() {
    return prettyName() + children;
  }

  @Override
  public abstract Object eval(InternalRow input);
}
