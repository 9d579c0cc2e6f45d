package weft.kernel.stream;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * The batches of a reader that reads again what was read before: the last knot of each. Every batch
 * is counted by the tick of its offset, so that one without new knots is a batch too.
 *
 * @param ends the last knot of each batch in turn
 * @param firstTick the tick of the offset that the first batch starts from
 */
record StreamScript(long[] ends, long firstTick) {

  /** The script that is asked for; null when there is none. */
  static StreamScript of(JsonNode asked) {
    if (asked.isMissingNode()) {
      return null;
    }
    JsonNode knots = asked.required("ends");
    long[] ends = new long[knots.size()];
    for (int at = 0; at < ends.length; at++) {
      ends[at] = knots.get(at).asLong();
    }
    return new StreamScript(ends, asked.required("firstTick").asLong());
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
