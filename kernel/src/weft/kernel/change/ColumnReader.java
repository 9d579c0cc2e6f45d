package weft.kernel.change;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;
import scala.Function2;

/** Reads one column of rows; how is found out once. */
public final class ColumnReader {
  private final int place;
  private final Function2<SpecializedGetters, Object, Object> accessor;

  public ColumnReader(int place, DataType type) {
    this.place = place;
    this.accessor = InternalRow.getAccessor(type, true);
  }

  public Object read(InternalRow row) {
    return accessor.apply(row, place);
  }
}
