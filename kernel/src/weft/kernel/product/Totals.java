package weft.kernel.product;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.window.aggregate.Accumulator;
import weft.kernel.window.aggregate.Aggregate;
import weft.kernel.window.aggregate.Standing;

/** The aggregates over all rows of a part. */
final class Totals implements Serializable {
  private static final long serialVersionUID = 1;

  private final List<String> names;
  private final List<Accumulator> accumulators;

  /** Their arguments are own values of the rows, from a place on. */
  Totals(List<Aggregate> aggregates, int from) {
    this.names = aggregates.stream().map(Aggregate::name).toList();
    Accumulator[] made = new Accumulator[aggregates.size()];
    int argument = from;
    for (int at = 0; at < made.length; at++) {
      made[at] = aggregates.get(at).accumulator(argument);
      argument += aggregates.get(at).types().size();
    }
    this.accumulators = List.of(made);
  }

  StructType type() {
    StructType type = new StructType();
    for (int at = 0; at < names.size(); at++) {
      type = type.add(names.get(at), accumulators.get(at).type());
    }
    return type;
  }

  /** A total in the making. */
  final class Sum {
    private final long[] longs = new long[accumulators.stream().mapToInt(Accumulator::longs).sum()];
    private final Object[] objects =
        new Object[accumulators.stream().mapToInt(Accumulator::objects).sum()];
    private final Standing standing = new Standing();
    private long rows;

    /** Takes a row in; of rows that are level, the one with the lowest key comes first. */
    void add(InternalRow own, byte[] key) {
      standing.id = UTF8String.fromBytes(key);
      rows++;
      int l = 0;
      int o = 0;
      for (Accumulator each : accumulators) {
        each.add(longs, l, objects, o, own, standing);
        l += each.longs();
        o += each.objects();
      }
    }

    InternalRow result() {
      Object[] values = new Object[accumulators.size()];
      int l = 0;
      int o = 0;
      for (int at = 0; at < values.length; at++) {
        Accumulator each = accumulators.get(at);
        values[at] = each.result(rows, longs, l, objects, o);
        l += each.longs();
        o += each.objects();
      }
      return new GenericInternalRow(values);
    }
  }
}
