package weft.kernel.product;

import weft.kernel.bytes.Blob;
import weft.kernel.change.KeyedValues;
import weft.kernel.change.Station;
import weft.kernel.window.state.BucketStore;

/**
 * What is kept of one node under one link: the rows that have it, the parents that look there, and
 * the hash of what these were told last.
 */
final class Shelf {
  private static final byte HEAD = 'n';
  private static final byte ROWS = 'r';
  private static final byte READERS = 's';

  final KeyedValues rows;
  final KeyedValues readers;

  /** The hash of what was told last; null when that was nothing. */
  byte[] told;

  private final BucketStore store;
  private final byte[] name;

  Shelf(BucketStore store, int node, byte[] link) {
    this.store = store;
    this.name = Station.name(HEAD, node, link);
    byte[] written = store.get(name);
    Blob in = written == null ? null : Blob.reading(written);
    this.told = in == null ? null : in.getArray();
    this.rows = new KeyedValues(store, Station.name(ROWS, node, link), in);
    this.readers = new KeyedValues(store, Station.name(READERS, node, link), in);
  }

  void keep() {
    if (rows.size() == 0 && readers.size() == 0) {
      rows.write(new Blob());
      readers.write(new Blob());
      store.remove(name);
      return;
    }
    Blob out = new Blob();
    out.putArray(told);
    rows.write(out);
    readers.write(out);
    store.put(name, out.toArray());
  }
}
