package weft.kernel.query;

import java.io.Serializable;
import java.util.Comparator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import weft.kernel.change.ColumnReader;
import weft.kernel.change.View;
import weft.kernel.spark.RowBytes;
import weft.kernel.spark.RowOrder;
import weft.kernel.spark.RowWriter;
import weft.kernel.window.aggregate.Aggregate;

/**
 * An aggregate that is the first of all rows in an order: min, max, min_by, max_by.
 *
 * <p>Of a row it keeps what it is ordered by, then the key of the row if that decides between
 * equals, then the value that is told.
 */
final class Rank implements Serializable {
  private static final long serialVersionUID = 1;

  private final StructType type;
  private final int[] places;
  private final int ordered;
  private final boolean isFalling;
  private final int value;
  private transient RowWriter writer;
  private transient Comparator<InternalRow> order;
  private transient ColumnReader reader;

  /**
   * @param argument where its arguments stand among the own values of rows
   */
  Rank(Aggregate aggregate, View view, int argument) {
    boolean isBy = aggregate.types().size() == 2;
    int keys = isBy ? view.ordered() : 0;
    this.places = new int[isBy ? keys + 2 : 1];
    this.places[0] = isBy ? argument + 1 : argument;
    for (int key = 0; key < keys; key++) {
      this.places[1 + key] = key;
    }
    this.value = places.length - 1;
    this.places[value] = argument;
    this.ordered = isBy ? 1 + keys : 1;
    this.isFalling = aggregate.function().startsWith("max");
    StructType own = view.ownType();
    StructType found = new StructType();
    for (int place : places) {
      found = found.add(own.fields()[place]);
    }
    this.type = found;
  }

  DataType valueType() {
    return type.fields()[value].dataType();
  }

  /** What is kept of a row; null where it does not count. */
  byte[] entry(InternalRow own) {
    writer = writer == null ? RowWriter.picking(type, places) : writer;
    return own.isNullAt(places[0]) ? null : writer.toBytes(own);
  }

  int compare(byte[] one, byte[] other) {
    if (order == null) {
      DataType[] types = new DataType[ordered];
      boolean[] falls = new boolean[ordered];
      falls[0] = isFalling;
      for (int at = 0; at < ordered; at++) {
        types[at] = type.fields()[at].dataType();
      }
      order = RowOrder.compiled(types, falls);
    }
    return order.compare(
        RowBytes.reading(one, places.length), RowBytes.reading(other, places.length));
  }

  Object value(byte[] entry) {
    reader = reader == null ? new ColumnReader(value, valueType()) : reader;
    return reader.read(RowBytes.reading(entry, places.length));
  }
}
