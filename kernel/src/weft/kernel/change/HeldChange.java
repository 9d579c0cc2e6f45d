package weft.kernel.change;

import java.nio.ByteBuffer;
import java.util.Arrays;
import weft.kernel.bytes.Blob;

/**
 * A change that waits for the rest of its transaction.
 *
 * @param kind what it is for: flags of {@link TableRows}
 * @param change the change
 * @param transaction the name of the transaction, or null for a row that a snapshot has read
 */
record HeldChange(int kind, Changed change, byte[] transaction) {
  boolean isOf(byte[] other) {
    return transaction != null && Arrays.equals(transaction, other);
  }

  boolean tells() {
    return (kind & TableRows.TELLS) != 0;
  }

  /** The same for a change that is told again: its place in the log and its row. */
  ByteBuffer identity() {
    Blob out = new Blob();
    out.putArray(change.position());
    out.putArray(change.key());
    out.putInt(change.isAlive() ? 1 : 0);
    out.putLong(change.position() == null ? change.knot() : 0);
    out.putLong(change.position() == null ? change.offset() : 0);
    return ByteBuffer.wrap(out.toArray());
  }

  byte[] toBytes() {
    Blob out = new Blob();
    out.putInt(kind);
    change.write(out);
    out.putArray(transaction);
    return out.toArray();
  }

  static HeldChange read(byte[] bytes) {
    Blob in = Blob.reading(bytes);
    int kind = in.getInt();
    Changed change = Changed.read(in);
    return new HeldChange(kind, change, in.getArray());
  }
}
