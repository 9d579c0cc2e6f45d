package weft.kernel.operator;

import java.io.Serializable;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import weft.kernel.spark.RowWriter;

/** The columns that a {@link Router} reads of each row, by their places. */
public final class Columns implements Serializable {
  private static final long serialVersionUID = 1;

  private final StructType type;

  public Columns(StructType type) {
    this.type = type;
  }

  /** Refuses rows of other types: to read them by these would make values up. */
  void check(StructType rows) {
    if (!rows.asNullable().equals(type.asNullable())) {
      throw new IllegalStateException(
          "An operator was attached to " + type.sql() + " and is given " + rows.sql() + ".");
    }
  }

  public int size() {
    return type.size();
  }

  public DataType type(int at) {
    return type.fields()[at].dataType();
  }

  /** One of them, or null. */
  public Object value(int at, InternalRow row) {
    return row.isNullAt(at) ? null : row.get(at, type(at));
  }

  /** Writes those from one place up to another. */
  public RowWriter writer(int from, int to) {
    StructType part = new StructType();
    for (StructField field : Arrays.copyOfRange(type.fields(), from, to)) {
      part = part.add(field);
    }
    return RowWriter.picking(part, IntStream.range(from, to).toArray());
  }
}
