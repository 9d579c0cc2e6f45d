package weft.kernel.window.aggregate;

import java.util.HashSet;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import weft.kernel.bytes.Blob;
import weft.kernel.spark.ValueHash;

/**
 * About how many different values there are: exact up to {@value #EXACT}, then a HyperLogLog of
 * 4,096 registers, with a standard error of 1.6 percent. Which of the two it is depends on the
 * values alone, not on their order.
 *
 * <p>Of Apache DataSketches, which Spark brings along, HLL and CPC are exact for fewer values or
 * for none, and Theta has another answer for another order. Slices of windows are copied and merged
 * for every pane, so that this is what has to be cheap.
 */
final class Distinct extends Accumulator {
  private static final long serialVersionUID = 1;
  private static final int EXACT = 512;
  private static final int BITS = 12;
  private static final int REGISTERS = 1 << BITS;
  private static final int LONGEST = Long.SIZE - BITS + 1;
  private static final long SEED = 42;

  private final int argument;
  private final DataType input;

  Distinct(int argument, DataType input) {
    super(0, 1);
    this.argument = argument;
    this.input = input;
  }

  @Override
  public DataType type() {
    return DataTypes.LongType;
  }

  @Override
  public void add(
      long[] longs, int l, Object[] objects, int o, InternalRow row, Standing standing) {
    if (!row.isNullAt(argument)) {
      take(objects, o, ValueHash.of(normal(row.get(argument, input)), input, SEED));
    }
  }

  /** One form of numbers that are equal: a zero without its sign, and one NaN. */
  static Object normal(Object value) {
    if (value instanceof Double number) {
      return number == 0 ? 0.0 : number.isNaN() ? Double.NaN : number;
    }
    if (value instanceof Float number) {
      return number == 0 ? 0.0f : number.isNaN() ? Float.NaN : number;
    }
    return value;
  }

  @SuppressWarnings("unchecked")
  private static void take(Object[] objects, int o, long hash) {
    if (objects[o] == null) {
      objects[o] = new HashSet<Long>();
    }
    if (objects[o] instanceof byte[] registers) {
      mark(registers, hash);
      return;
    }
    Set<Long> hashes = (Set<Long>) objects[o];
    hashes.add(hash);
    if (hashes.size() > EXACT) {
      byte[] registers = new byte[REGISTERS];
      hashes.forEach(each -> mark(registers, each));
      objects[o] = registers;
    }
  }

  private static void mark(byte[] registers, long hash) {
    int register = (int) (hash >>> (Long.SIZE - BITS));
    byte rank = (byte) (Math.min(Long.numberOfLeadingZeros(hash << BITS), Long.SIZE - BITS) + 1);
    if (rank > registers[register]) {
      registers[register] = rank;
    }
  }

  @Override
  @SuppressWarnings("unchecked")
  public void merge(
      long[] longs,
      int l,
      Object[] objects,
      int o,
      long[] otherLongs,
      int ol,
      Object[] others,
      int oo) {
    if (others[oo] == null) {
      return;
    }
    if (others[oo] instanceof byte[] registers) {
      if (objects[o] instanceof byte[] ours) {
        for (int at = 0; at < REGISTERS; at++) {
          ours[at] = (byte) Math.max(ours[at], registers[at]);
        }
        return;
      }
      Set<Long> hashes = (Set<Long>) objects[o];
      objects[o] = registers;
      if (hashes != null) {
        hashes.forEach(hash -> mark(registers, hash));
      }
    } else {
      ((Set<Long>) others[oo]).forEach(hash -> take(objects, o, hash));
    }
  }

  @Override
  public Object result(long records, long[] longs, int l, Object[] objects, int o) {
    if (objects[o] == null) {
      return 0L;
    }
    return objects[o] instanceof byte[] registers
        ? estimate(registers)
        : (long) ((Set<?>) objects[o]).size();
  }

  /** Ertl's estimator (2017): without bias over the whole range, and without tables. */
  private static long estimate(byte[] registers) {
    int[] counts = new int[LONGEST + 1];
    for (byte register : registers) {
      counts[register]++;
    }
    double z = REGISTERS * tau(1 - (double) counts[LONGEST] / REGISTERS);
    for (int rank = LONGEST - 1; rank >= 1; rank--) {
      z = 0.5 * (z + counts[rank]);
    }
    z += REGISTERS * sigma((double) counts[0] / REGISTERS);
    return Math.round((double) REGISTERS * REGISTERS / (2 * Math.log(2) * z));
  }

  private static double sigma(double x) {
    if (x == 1) {
      return Double.POSITIVE_INFINITY;
    }
    double y = 1;
    double z = x;
    double before;
    do {
      x *= x;
      before = z;
      z += x * y;
      y += y;
    } while (z != before);
    return z;
  }

  private static double tau(double x) {
    if (x == 0 || x == 1) {
      return 0;
    }
    double y = 1;
    double z = 1 - x;
    double before;
    do {
      x = Math.sqrt(x);
      before = z;
      y *= 0.5;
      z -= (1 - x) * (1 - x) * y;
    } while (z != before);
    return z / 3;
  }

  @Override
  @SuppressWarnings("unchecked")
  public void write(Object value, Blob out) {
    if (value instanceof byte[] registers) {
      out.putArray(registers);
      return;
    }
    out.putInt(-1);
    Set<Long> hashes = value == null ? Set.of() : (Set<Long>) value;
    out.putInt(hashes.size());
    hashes.forEach(out::putLong);
  }

  @Override
  public Object read(Blob in) {
    byte[] registers = in.getArray();
    if (registers != null) {
      return registers;
    }
    Set<Long> hashes = new HashSet<>();
    for (int left = in.getInt(); left > 0; left--) {
      hashes.add(in.getLong());
    }
    return hashes;
  }
}
