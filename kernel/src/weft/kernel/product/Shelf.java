package weft.kernel.product;

import weft.kernel.bytes.Blob;
import weft.kernel.bytes.Packed;
import weft.kernel.change.KeyedValues;
import weft.kernel.change.Station;
import weft.kernel.operator.BucketStore;

/**
 * What is kept of one node under one link: the rows that have it, the parents that look there, and
 * the hash of what these were told last.
 */
final class Shelf {
  private static final byte HEAD = 'n';
  private static final byte ROWS = 'r';
  private static final byte READERS = 's';
  private static final int SPARE = 512;

  final KeyedValues rows;
  final KeyedValues readers;

  /** The hash of what was told last; null when that was nothing. */
  byte[] told;

  private final BucketStore store;
  private final byte[] name;
  private final byte[] toldBefore;
  private final int bytesBefore;

  Shelf(BucketStore store, int node, byte[] link) {
    this.store = store;
    this.name = Station.name(HEAD, node, link);
    byte[] written = store.get(name);
    Blob in = written == null ? null : Packed.unpack(written);
    this.bytesBefore = in == null ? 0 : in.array().length;
    this.toldBefore = in == null ? null : in.getArray();
    this.told = toldBefore;
    this.rows = new KeyedValues(store, Station.name(ROWS, node, link), in);
    this.readers = new KeyedValues(store, Station.name(READERS, node, link), in);
  }

  /** Writes what has changed. */
  void keep() {
    if (!rows.hasChanged() && !readers.hasChanged() && told == toldBefore) {
      return;
    }
    if (rows.size() == 0 && readers.size() == 0 && told == null) {
      rows.write(new Blob());
      readers.write(new Blob());
      store.remove(name);
      return;
    }
    Blob out = Blob.ofSize(bytesBefore + SPARE);
    out.putArray(told);
    rows.write(out);
    readers.write(out);
    store.put(name, Packed.pack(out));
  }
}
