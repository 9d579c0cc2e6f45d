package weft.kernel.query;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import weft.kernel.bytes.Blob;
import weft.kernel.change.Station;
import weft.kernel.change.View;
import weft.kernel.operator.BucketStore;
import weft.kernel.window.aggregate.Accumulator;
import weft.kernel.window.aggregate.Aggregate;

/** The aggregates of groups, from which rows can be taken out again. */
final class Tally implements Serializable {
  private static final long serialVersionUID = 1;
  private static final byte PAGES = 'p';

  private final List<Tallied> kept = new ArrayList<>();
  private final int longs;
  private final int objects;

  /** How an aggregate is kept: added up in slots of its own, or by a rank of all rows. */
  private record Tallied(String name, Accumulator sum, int l, int o, Rank rank)
      implements Serializable {}

  Tally(View view) {
    int argument = view.ordered();
    int l = 0;
    int o = 0;
    for (Aggregate each : view.aggregates()) {
      Accumulator sum = each.retractable(argument);
      Rank rank = sum == null ? new Rank(each, view, argument) : null;
      kept.add(new Tallied(each.name(), sum, l, o, rank));
      l += sum == null ? 0 : sum.longs();
      o += sum == null ? 0 : sum.objects();
      argument += each.types().size();
    }
    this.longs = l;
    this.objects = o;
  }

  /** A group's columns: those it is grouped by, then its aggregates. */
  StructType type(StructType by) {
    StructType type = by;
    for (Tallied each : kept) {
      type = type.add(each.name, each.sum == null ? each.rank.valueType() : each.sum.type());
    }
    return type;
  }

  /** The aggregates of one group. */
  final class Group {
    private final long[] numbers = new long[longs];
    private final Object[] values = new Object[objects];
    private final SortedValues[] ranks = new SortedValues[kept.size()];
    private long rows;

    /**
     * @param in what {@link #write} wrote, or null for a group that is not there yet
     */
    Group(BucketStore store, byte[] link, Blob in) {
      if (in != null) {
        rows = in.getLong();
        in.getLongs(numbers, 0, longs);
      }
      for (int at = 0; at < kept.size(); at++) {
        Tallied each = kept.get(at);
        if (each.sum == null) {
          byte[] name = Station.name(PAGES, at, link);
          ranks[at] = new SortedValues(store, name, in, each.rank::compare);
        }
        for (int o = 0; in != null && each.sum != null && o < each.sum.objects(); o++) {
          values[each.o + o] = each.sum.read(in);
        }
      }
    }

    boolean isEmpty() {
      return rows == 0;
    }

    void add(InternalRow own, byte[] key) {
      rows++;
      for (int at = 0; at < ranks.length; at++) {
        Tallied each = kept.get(at);
        if (each.sum != null) {
          each.sum.add(numbers, each.l, values, each.o, own, null);
          continue;
        }
        byte[] entry = each.rank.entry(own);
        if (entry != null) {
          ranks[at].add(entry, key);
        }
      }
    }

    void subtract(InternalRow own, byte[] key) {
      rows--;
      for (int at = 0; at < ranks.length; at++) {
        Tallied each = kept.get(at);
        if (each.sum != null) {
          each.sum.subtract(numbers, each.l, values, each.o, own);
          continue;
        }
        byte[] entry = each.rank.entry(own);
        if (entry != null) {
          ranks[at].remove(entry, key);
        }
      }
    }

    /** Puts the aggregates into a row, from a place on. */
    void tell(Object[] row, int from) {
      for (int at = 0; at < ranks.length; at++) {
        Tallied each = kept.get(at);
        if (each.sum != null) {
          row[from + at] = each.sum.result(rows, numbers, each.l, values, each.o);
        } else {
          List<Page.Sorted> first = ranks[at].first(1);
          row[from + at] = first.isEmpty() ? null : each.rank.value(first.get(0).value());
        }
      }
    }

    void write(Blob out) {
      out.putLong(rows);
      out.putLongs(numbers, 0, longs);
      for (int at = 0; at < ranks.length; at++) {
        Tallied each = kept.get(at);
        if (each.sum == null) {
          ranks[at].write(out);
        }
        for (int o = 0; each.sum != null && o < each.sum.objects(); o++) {
          each.sum.write(values[each.o + o], out);
        }
      }
    }
  }
}
