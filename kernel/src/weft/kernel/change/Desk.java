package weft.kernel.change;

import weft.kernel.bytes.Blob;
import weft.kernel.bytes.Packed;
import weft.kernel.operator.BucketStore;

/**
 * What a station works with in a batch.
 *
 * @param store what is kept from batch to batch
 * @param post takes letters to other stations
 * @param outlet takes results
 */
public record Desk(BucketStore store, Post post, Outlet outlet) {
  /** What is kept under a name; null for nothing. */
  public Blob read(byte[] name) {
    byte[] written = store.get(name);
    return written == null ? null : Packed.unpack(written);
  }

  /** Keeps what was written under a name, or forgets it where it says nothing any more. */
  public void keep(byte[] name, Blob written, boolean isEmpty) {
    if (isEmpty) {
      store.remove(name);
    } else {
      store.put(name, Packed.pack(written));
    }
  }
}
