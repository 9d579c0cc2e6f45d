package weft.kernel.product;

import java.nio.ByteBuffer;
import weft.kernel.bytes.Blob;
import weft.kernel.window.state.BucketStore;

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
   * Remembers that the row under a name of the state is deleted, and forgets the one that was
   * deleted longest ago.
   */
  void add(byte[] name) {
    store.put(nameOf(next++), name);
    hasChanged = true;
    while (next - first > most) {
      byte[] grave = nameOf(first++);
      byte[] oldest = store.get(grave);
      store.remove(grave);
      byte[] written = oldest == null ? null : store.get(oldest);
      if (written != null && !Changed.read(Blob.reading(written)).isAlive()) {
        store.remove(oldest);
      }
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
