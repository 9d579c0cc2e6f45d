package weft.kernel.change;

import java.nio.ByteBuffer;
import weft.kernel.bytes.Blob;
import weft.kernel.operator.BucketStore;

/**
 * The rows of a bucket that were deleted last. They are remembered, so that an older change which
 * comes late does not bring one back; when there are many, the oldest are forgotten.
 */
final class Graves {
  private static final byte HEAD = 'h';
  private static final byte GRAVE = 'g';

  /** So many deletions a bucket remembers. */
  static final int MOST = 100_000;

  private final BucketStore store;
  private final int most;
  private long first;
  private long next;
  private boolean hasChanged;

  Graves(BucketStore store, int most) {
    this.store = store;
    this.most = most;
    byte[] head = store.get(new byte[] {HEAD});
    if (head != null) {
      Blob in = Blob.reading(head);
      first = in.getLong();
      next = in.getLong();
    }
  }

  /**
   * Remembers a deletion, which the state has under a name, and forgets the one of longest ago.
   */
  void add(byte[] name, Changed deletion) {
    Blob out = new Blob();
    out.putArray(name);
    out.putLong(deletion.knot());
    out.putLong(deletion.offset());
    store.put(nameOf(next++), out.toArray());
    hasChanged = true;
    while (next - first > most) {
      byte[] grave = nameOf(first++);
      byte[] oldest = store.get(grave);
      store.remove(grave);
      if (oldest != null) {
        forget(Blob.reading(oldest));
      }
    }
  }

  /** Forgets a deletion, unless the row lives again or was deleted again. */
  private void forget(Blob grave) {
    byte[] name = grave.getArray();
    byte[] written = store.get(name);
    Changed now = written == null ? null : Changed.read(Blob.reading(written));
    long knot = grave.getLong();
    long offset = grave.getLong();
    if (now != null && !now.isAlive() && now.knot() == knot && now.offset() == offset) {
      store.remove(name);
    }
  }

  void keep() {
    if (hasChanged) {
      Blob out = new Blob();
      out.putLong(first);
      out.putLong(next);
      store.put(new byte[] {HEAD}, out.toArray());
    }
  }

  private static byte[] nameOf(long number) {
    return ByteBuffer.allocate(1 + Long.BYTES).put(GRAVE).putLong(number).array();
  }
}
