package weft.kernel.window.bucket;

import java.util.Arrays;
import weft.kernel.bytes.Blob;

/**
 * A record that is late unless its bucket takes it: the one of a session that may still be kept, or
 * of a stream that is ahead of the operator it goes into.
 *
 * @param eventMs its event time
 * @param segment its accumulators, alone
 * @param lateRow the row that it becomes if it is late
 */
record Doubt(long eventMs, byte[] segment, byte[] lateRow) {
  static Doubt read(long eventMs, byte[] payload) {
    Blob in = Blob.reading(payload);
    byte[] segment = in.getArray();
    return new Doubt(eventMs, segment, Arrays.copyOfRange(payload, in.position(), payload.length));
  }
}
