package weft.kernel.window.aggregate;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.spark.RowOrder;
import weft.kernel.spark.RowWriter;

/**
 * A few values as the bytes of one row, ordered by their leading ones.
 *
 * <p>With a standing, event time, knot and id come after the values that lead, so that no two
 * records are equal.
 */
final class Tuple implements Serializable {
  private static final long serialVersionUID = 1;
  private static final DataType[] STANDING = {
    DataTypes.LongType, DataTypes.LongType, DataTypes.StringType
  };

  private final DataType[] leading;
  private final boolean isDescending;
  private final boolean hasStanding;
  private final DataType[] types;

  private transient RowWriter writer;
  private transient Comparator<InternalRow> order;
  private transient GenericInternalRow values;
  private transient UnsafeRow left;
  private transient UnsafeRow right;

  Tuple(
      List<DataType> leading, boolean isDescending, boolean hasStanding, List<DataType> trailing) {
    this.leading = leading.toArray(new DataType[0]);
    this.isDescending = isDescending;
    this.hasStanding = hasStanding;
    List<DataType> all = new ArrayList<>(leading);
    if (hasStanding) {
      all.addAll(List.of(STANDING));
    }
    all.addAll(trailing);
    this.types = all.toArray(new DataType[0]);
  }

  byte[] make(InternalRow row, int[] leadingFrom, Standing standing, int[] trailingFrom) {
    open();
    int at = 0;
    for (int from : leadingFrom) {
      values.update(at, get(row, from, types[at]));
      at++;
    }
    if (hasStanding) {
      values.update(at++, standing.eventTime);
      values.update(at++, standing.knot);
      values.update(at++, standing.id);
    }
    for (int from : trailingFrom) {
      values.update(at, get(row, from, types[at]));
      at++;
    }
    // The writer writes every row into the same bytes.
    return writer.write(values).getBytes().clone();
  }

  private static Object get(InternalRow row, int from, DataType type) {
    return row.isNullAt(from) ? null : row.get(from, type);
  }

  /** The last value of a tuple, as Catalyst holds it. */
  Object last(byte[] bytes) {
    int at = types.length - 1;
    UnsafeRow row = new UnsafeRow(types.length);
    row.pointTo(bytes, bytes.length);
    return get(row, at, types[at]);
  }

  Comparator<byte[]> order() {
    open();
    return (a, b) -> {
      left.pointTo(a, a.length);
      right.pointTo(b, b.length);
      return order.compare(left, right);
    };
  }

  private void open() {
    if (writer != null) {
      return;
    }
    writer = RowWriter.of(types);
    values = new GenericInternalRow(types.length);
    left = new UnsafeRow(types.length);
    right = new UnsafeRow(types.length);
    int ordered = leading.length + (hasStanding ? STANDING.length : 0);
    order = RowOrder.of(Arrays.copyOf(types, ordered), isDescending ? leading.length : 0);
  }

  /** Bytes that can be a key of a set. */
  record Value(UTF8String bytes) {
    static Value of(byte[] bytes) {
      return new Value(UTF8String.fromBytes(bytes));
    }
  }
}
