package weft.kernel.change;

import java.io.Serializable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.StructType;
import weft.kernel.bytes.Lent;
import weft.kernel.spark.RowWriter;

/**
 * What is made of changing tables: what is read of them, the stations that their rows go to, and
 * what comes out.
 *
 * <p>What writes rows is made once and kept here, for one thread at a time: {@link Lent}.
 */
public final class Plan implements Serializable {
  private static final long serialVersionUID = 1;

  private final List<Table> tables;
  private final List<Station> stations;
  private final Result result;
  private final int depth;

  private transient Map<Integer, RowWriter> rowWriters;
  private transient RowWriter outlet;

  /** A table: the columns of it that are needed, and who sees its rows how. */
  public record Table(StructType columns, List<View> views) implements Serializable {}

  /**
   * What comes out.
   *
   * @param type the columns of a result
   * @param keyType those of its key
   * @param keyAt where in the result these stand
   */
  public record Result(StructType type, StructType keyType, int[] keyAt) implements Serializable {}

  public Plan(List<Table> tables, List<? extends Station> stations, Result result) {
    this.tables = List.copyOf(tables);
    this.stations = List.copyOf(stations);
    this.result = result;
    this.depth = stations.stream().mapToInt(Station::level).max().orElse(0);
  }

  List<Table> tables() {
    return tables;
  }

  Station station(int number) {
    return stations.get(number);
  }

  /** Whether its stations take the letters of a batch in several goes. */
  boolean takesAhead() {
    return stations.stream().allMatch(Station::takesAhead);
  }

  Result result() {
    return result;
  }

  /** How many levels of stations come before the last. */
  int depth() {
    return depth;
  }

  /** Writes rows of a table. */
  RowWriter rowWriter(int table) {
    rowWriters = rowWriters == null ? new HashMap<>() : rowWriters;
    return rowWriters.computeIfAbsent(table, at -> RowWriter.of(tables.get(at).columns()));
  }

  /** Writes what goes out. */
  RowWriter outlet() {
    outlet = outlet == null ? RowWriter.of(Outlet.type(result)) : outlet;
    return outlet;
  }
}
