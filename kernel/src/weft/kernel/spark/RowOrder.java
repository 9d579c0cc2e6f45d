package weft.kernel.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Descending$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.InterpretedOrdering;
import org.apache.spark.sql.catalyst.expressions.RowOrdering;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering;
import org.apache.spark.sql.types.DataType;
import scala.jdk.javaapi.CollectionConverters;

/** The order of rows by their leading columns, as SQL sorts them. */
public final class RowOrder {
  private RowOrder() {}

  /** Whether SQL can sort values of a type. */
  public static boolean isOrderable(DataType type) {
    return RowOrdering.isOrderable(type);
  }

  /** The order by columns of these types, of which so many come first in falling order. */
  public static Comparator<InternalRow> of(DataType[] types, int falling) {
    boolean[] isFalling = new boolean[types.length];
    Arrays.fill(isFalling, 0, falling, true);
    return of(types, isFalling);
  }

  /** The order by columns of these types, each rising or falling; compiled, for many rows. */
  public static Comparator<InternalRow> compiled(DataType[] types, boolean[] isFalling) {
    return new LazilyGeneratedOrdering(
        CollectionConverters.asScala(orders(types, isFalling)).toList());
  }

  private static Comparator<InternalRow> of(DataType[] types, boolean[] isFalling) {
    return new InterpretedOrdering(CollectionConverters.asScala(orders(types, isFalling)).toList());
  }

  private static List<SortOrder> orders(DataType[] types, boolean[] isFalling) {
    List<SortOrder> orders = new ArrayList<>();
    for (int at = 0; at < types.length; at++) {
      var direction = isFalling[at] ? Descending$.MODULE$ : Ascending$.MODULE$;
      orders.add(
          new SortOrder(
              new BoundReference(at, types[at], true),
              direction,
              direction.defaultNullOrdering(),
              CollectionConverters.asScala(List.<Expression>of()).toList()));
    }
    return orders;
  }
}
