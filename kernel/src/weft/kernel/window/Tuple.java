package weft.kernel.window;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Descending$;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.InterpretedOrdering;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A few values as the bytes of one row, ordered by their leading ones.
 *
 * <p>With a moment, event time, knot and id come after the values that lead, so that no two records
 * are equal.
 */
final class Tuple implements Serializable {
  private static final long serialVersionUID = 1;
  private static final DataType[] MOMENT = {
    DataTypes.LongType, DataTypes.LongType, DataTypes.StringType
  };

  private final DataType[] leading;
  private final boolean isDescending;
  private final boolean hasMoment;
  private final DataType[] types;

  private transient UnsafeProjection projection;
  private transient InterpretedOrdering ordering;
  private transient GenericInternalRow values;
  private transient UnsafeRow left;
  private transient UnsafeRow right;

  Tuple(List<DataType> leading, boolean isDescending, boolean hasMoment, List<DataType> trailing) {
    this.leading = leading.toArray(new DataType[0]);
    this.isDescending = isDescending;
    this.hasMoment = hasMoment;
    List<DataType> all = new ArrayList<>(leading);
    if (hasMoment) {
      all.addAll(List.of(MOMENT));
    }
    all.addAll(trailing);
    this.types = all.toArray(new DataType[0]);
  }

  byte[] make(InternalRow row, int[] leadingFrom, Moment moment, int[] trailingFrom) {
    open();
    int at = 0;
    for (int from : leadingFrom) {
      values.update(at, get(row, from, types[at]));
      at++;
    }
    if (hasMoment) {
      values.update(at++, moment.eventTime);
      values.update(at++, moment.knot);
      values.update(at++, moment.id);
    }
    for (int from : trailingFrom) {
      values.update(at, get(row, from, types[at]));
      at++;
    }
    // The projection writes every row into the same bytes.
    return projection.apply(values).getBytes().clone();
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
      return ordering.compare(left, right);
    };
  }

  private void open() {
    if (projection != null) {
      return;
    }
    projection = UnsafeProjection.create(types);
    values = new GenericInternalRow(types.length);
    left = new UnsafeRow(types.length);
    right = new UnsafeRow(types.length);
    List<SortOrder> orders = new ArrayList<>();
    int ordered = leading.length + (hasMoment ? MOMENT.length : 0);
    for (int at = 0; at < ordered; at++) {
      var direction =
          at < leading.length && isDescending ? Descending$.MODULE$ : Ascending$.MODULE$;
      orders.add(
          new SortOrder(
              new BoundReference(at, types[at], true),
              direction,
              direction.defaultNullOrdering(),
              CollectionConverters.asScala(
                      List.<org.apache.spark.sql.catalyst.expressions.Expression>of())
                  .toList()));
    }
    ordering = new InterpretedOrdering(CollectionConverters.asScala(orders).toList());
  }

  /** Bytes that can be a key of a set. */
  record Value(UTF8String bytes) {
    static Value of(byte[] bytes) {
      return new Value(UTF8String.fromBytes(bytes));
    }
  }
}
