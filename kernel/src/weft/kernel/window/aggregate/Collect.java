package weft.kernel.window.aggregate;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import weft.kernel.bytes.Blob;
import weft.kernel.spark.RowOrder;

/**
 * All values that are not null: as a list in the order of the records, or as a set.
 *
 * <p>A set is sorted where its type has an order, and by its bytes otherwise, so that equal panes
 * have equal bytes.
 */
final class Collect extends Accumulator {
  private static final long serialVersionUID = 1;

  private final int argument;
  private final DataType element;
  private final boolean isSet;
  private final boolean isSortable;
  private final Tuple tuple;

  Collect(int argument, DataType element, boolean isSet) {
    super(0, 1);
    this.argument = argument;
    this.element = element;
    this.isSet = isSet;
    this.isSortable = RowOrder.isOrderable(element);
    if (isSet) {
      this.tuple =
          isSortable
              ? new Tuple(List.of(element), false, false, List.of())
              : new Tuple(List.of(), false, false, List.of(element));
    } else {
      this.tuple = new Tuple(List.of(), false, true, List.of(element));
    }
  }

  @Override
  public boolean isOrdered() {
    return !isSet;
  }

  @Override
  public DataType type() {
    return new ArrayType(element, false);
  }

  @Override
  public void add(
      long[] longs, int l, Object[] objects, int o, InternalRow row, Standing standing) {
    if (row.isNullAt(argument)) {
      return;
    }
    InternalRow from = row;
    int[] column = {argument};
    if (isSet && (element instanceof DoubleType || element instanceof FloatType)) {
      from = new GenericInternalRow(new Object[] {Distinct.normal(row.get(argument, element))});
      column[0] = 0;
    }
    int[] none = {};
    boolean leads = isSet && isSortable;
    byte[] value = tuple.make(from, leads ? column : none, standing, leads ? none : column);
    values(objects, o).add(Tuple.Value.of(value));
  }

  @SuppressWarnings("unchecked")
  private Collection<Tuple.Value> values(Object[] objects, int o) {
    if (objects[o] == null) {
      objects[o] = isSet ? new HashSet<Tuple.Value>() : new ArrayList<Tuple.Value>();
    }
    return (Collection<Tuple.Value>) objects[o];
  }

  @Override
  public void merge(
      long[] longs,
      int l,
      Object[] objects,
      int o,
      long[] otherLongs,
      int ol,
      Object[] others,
      int oo) {
    if (others[oo] != null) {
      values(objects, o).addAll(values(others, oo));
    }
  }

  @Override
  public Object result(long records, long[] longs, int l, Object[] objects, int o) {
    List<byte[]> sorted = new ArrayList<>();
    values(objects, o).forEach(value -> sorted.add(value.bytes().getBytes()));
    sorted.sort(isSet && !isSortable ? java.util.Arrays::compare : tuple.order());
    return new GenericArrayData(sorted.stream().map(tuple::last).toArray());
  }

  @Override
  @SuppressWarnings("unchecked")
  public void write(Object value, Blob out) {
    Collection<Tuple.Value> values = value == null ? List.of() : (Collection<Tuple.Value>) value;
    out.putInt(values.size());
    values.forEach(each -> out.putArray(each.bytes().getBytes()));
  }

  @Override
  public Object read(Blob in) {
    Object[] slot = new Object[1];
    Collection<Tuple.Value> values = values(slot, 0);
    for (int left = in.getInt(); left > 0; left--) {
      values.add(Tuple.Value.of(in.getArray()));
    }
    return slot[0];
  }
}
