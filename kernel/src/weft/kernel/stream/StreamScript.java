package weft.kernel.stream;

import java.util.Arrays;

/**
 * The batches of a reader that reads again what was read before: the last knot of each. Every batch
 * is counted by the tick of its offset, so that one without new knots is a batch too.
 *
 * @param ends the last knot of each batch in turn
 * @param firstTick the tick of the offset that the first batch starts from
 */
record StreamScript(long[] ends, long firstTick) {

  /** The script with these knots, commas between; null when there is none. */
  static StreamScript of(String ends, long firstTick) {
    if (ends == null) {
      return null;
    }
    String[] knots = ends.isEmpty() ? new String[0] : ends.split(",");
    return new StreamScript(Arrays.stream(knots).mapToLong(Long::parseLong).toArray(), firstTick);
  }

  /** Whether a batch starts from here. */
  boolean hasAfter(StreamOffset from) {
    return from.tick() - firstTick < ends.length;
  }

  /** The last knot of the batch that starts from here. */
  long endAfter(StreamOffset from) {
    return ends[(int) (from.tick() - firstTick)];
  }
}
