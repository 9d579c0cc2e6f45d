package weft.kernel.spark;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataType;

/** The columns that a {@link RowGenerator} reads of each row. */
public final class Inputs implements Serializable {
  private static final long serialVersionUID = 1;

  private final List<Expression> expressions;

  Inputs(List<Expression> expressions) {
    this.expressions = List.copyOf(expressions);
  }

  /** These columns of the rows that a generator is selected from. */
  public static Inputs of(List<Column> columns) {
    return new Inputs(columns.stream().map(ExpressionUtils::expression).toList());
  }

  List<Expression> expressions() {
    return expressions;
  }

  public int size() {
    return expressions.size();
  }

  public DataType type(int at) {
    return expressions.get(at).dataType();
  }

  /** One of them, for a row. */
  public Object value(int at, InternalRow row) {
    return expressions.get(at).eval(row);
  }

  /** Writes those from one place up to another. */
  public RowWriter writer(int from, int to) {
    return RowWriter.of(expressions.subList(from, to));
  }

  /** Whether rows have just these columns, in this order, so that nothing has to be copied. */
  public boolean areInPlace() {
    for (int at = 0; at < expressions.size(); at++) {
      if (!(expressions.get(at) instanceof BoundReference reference) || reference.ordinal() != at) {
        return false;
      }
    }
    return true;
  }
}
