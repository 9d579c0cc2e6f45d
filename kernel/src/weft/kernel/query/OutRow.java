package weft.kernel.query;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.change.ColumnReader;
import weft.kernel.change.Plan;
import weft.kernel.change.Post;
import weft.kernel.change.View;
import weft.kernel.spark.RowBytes;
import weft.kernel.spark.RowWriter;

/** Makes the result of a left row and a right one, of which one may be missing, and tells of it. */
final class OutRow implements Serializable {
  private static final long serialVersionUID = 1;
  private static final UTF8String LEFT = UTF8String.fromString("left");
  private static final UTF8String RIGHT = UTF8String.fromString("right");
  private static final UTF8String BOTH = UTF8String.fromString("both");

  private final Plan.Result result;
  private final List<Column> columns;
  private final StructType[] own;
  private transient RowWriter writer;
  private transient RowWriter keyOf;
  private transient ColumnReader[][] readers;

  /**
   * Where a column of the result comes from: from the left row, and where there is none or that has
   * no such column, from the right one; both -1 for the column that says which of them are there.
   */
  record Column(int left, int right) implements Serializable {}

  OutRow(Plan.Result result, List<Column> columns, View left, View right) {
    this.result = result;
    this.columns = List.copyOf(columns);
    this.own =
        right == null
            ? new StructType[] {left.ownType()}
            : new StructType[] {left.ownType(), right.ownType()};
  }

  void takeBack(byte[] left, byte[] right, Post post) {
    GenericInternalRow row = row(left, right);
    Results.takeBack(key(row), value(row), post);
  }

  void show(byte[] left, byte[] right, Post post) {
    GenericInternalRow row = row(left, right);
    Results.show(key(row), value(row), post);
  }

  private byte[] key(GenericInternalRow row) {
    return keyOf.toBytes(row);
  }

  private byte[] value(GenericInternalRow row) {
    return writer.toBytes(new GenericInternalRow(new Object[] {row}));
  }

  private GenericInternalRow row(byte[] left, byte[] right) {
    open();
    InternalRow ofLeft = left == null ? null : RowBytes.reading(left, own[0].size());
    InternalRow ofRight = right == null ? null : RowBytes.reading(right, own[1].size());
    Object[] values = new Object[columns.size()];
    for (int at = 0; at < values.length; at++) {
      Column column = columns.get(at);
      if (column.left < 0 && column.right < 0) {
        values[at] = left == null ? RIGHT : right == null ? LEFT : BOTH;
      } else if (column.left >= 0 && left != null) {
        values[at] = readers[0][at].read(ofLeft);
      } else if (column.right >= 0 && right != null) {
        values[at] = readers[1][at].read(ofRight);
      }
    }
    return new GenericInternalRow(values);
  }

  private void open() {
    if (writer != null) {
      return;
    }
    writer = RowWriter.of(new DataType[] {result.type()});
    keyOf = RowWriter.picking(result.keyType(), result.keyAt());
    readers = new ColumnReader[2][columns.size()];
    for (int at = 0; at < columns.size(); at++) {
      readers[0][at] = reader(columns.get(at).left, 0);
      readers[1][at] = reader(columns.get(at).right, 1);
    }
  }

  private ColumnReader reader(int place, int side) {
    return place < 0 ? null : new ColumnReader(place, own[side].fields()[place].dataType());
  }
}
