package weft.kernel.product;

import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import weft.kernel.bytes.Slice;
import weft.kernel.change.Station;
import weft.kernel.operator.BucketStore;
import weft.kernel.operator.Warm;

/**
 * What is kept of one node under one link: the rows that have it, the parents that look there, and
 * of a document the hash of what was told last.
 *
 * <p>In the store each row and each parent stands by itself, so that a change writes what it
 * changes and no more. They are read when they are asked for, and stay in memory while there is
 * room.
 */
final class Shelf implements Warm.Thing {
  private static final byte TOLD = 'n';
  private static final byte ROW = 'r';
  private static final byte READER = 's';
  private static final byte[] NOTHING = {};

  /** What a shelf takes in memory without its bytes, and a parent, about. */
  private static final int OBJECTS = 200;

  private static final int READER_OBJECTS = 112;

  private final Node node;
  private final byte[] link;

  /** Each null until it is read. */
  private NodeRows rows;

  private Set<Slice> readers;

  private byte[] told;
  private boolean knowsTold;

  /** What the rows are for a parent, until they change. */
  private byte[] value;

  private boolean hasValue;

  /** The keys of rows that are to be written, with the row, or with null where it is gone. */
  private final Map<Slice, NodeRow> changed = new LinkedHashMap<>();

  private long bytes = OBJECTS;

  /**
   * @param isNew whether nothing of it is in the store
   */
  Shelf(Node node, byte[] link, boolean isNew) {
    this.node = node;
    this.link = link;
    if (isNew) {
      rows = new NodeRows();
      readers = new HashSet<>();
      knowsTold = true;
    }
  }

  byte[] link() {
    return link;
  }

  @Override
  public long bytes() {
    return bytes;
  }

  private byte[] name(byte kind) {
    return Station.name(kind, node.number(), link);
  }

  private byte[] name(byte kind, byte[] key) {
    byte[] name = name(kind);
    byte[] whole = Arrays.copyOf(name, name.length + key.length);
    System.arraycopy(key, 0, whole, name.length, key.length);
    return whole;
  }

  NodeRows rows(BucketStore store) {
    if (rows == null) {
      rows = new NodeRows();
      store
          .entries(name(ROW))
          .forEachRemaining(
              entry -> {
                NodeRow row = NodeRow.read(entry.key(), entry.value(), node.parts().length);
                rows.add(row);
                bytes += row.bytes();
              });
    }
    return rows;
  }

  /** Has a row with these values of its own there; whether that changes anything. */
  boolean put(BucketStore store, byte[] key, byte[] own) {
    NodeRow row = rows(store).find(key);
    if (row == null) {
      row = new NodeRow(key, own, node.parts().length);
      rows.add(row);
      bytes += row.bytes();
      return change(row);
    }
    long before = row.bytes();
    if (!row.setOwn(own)) {
      return false;
    }
    rows.moved();
    bytes += row.bytes() - before;
    return change(row);
  }

  /** Takes what a part of a row tells; whether that changes anything. */
  boolean setPart(BucketStore store, byte[] key, int part, byte[] told) {
    NodeRow row = rows(store).find(key);
    if (row == null) {
      return false;
    }
    long before = row.bytes();
    if (row.setPart(part, told)) {
      bytes += row.bytes() - before;
      return change(row);
    }
    // Where it only says where to look, there may be something else now.
    if (told != null && node.looksUp(part)) {
      forgetValue();
      return true;
    }
    return false;
  }

  /** Forgets a row; whether it was there. */
  boolean remove(BucketStore store, byte[] key) {
    NodeRow row = rows(store).find(key);
    if (row == null) {
      return false;
    }
    rows.remove(row);
    bytes -= row.bytes();
    changed.put(Slice.of(key), null);
    forgetValue();
    return true;
  }

  private boolean change(NodeRow row) {
    changed.put(Slice.of(row.key()), row);
    forgetValue();
    return true;
  }

  private void forgetValue() {
    bytes -= value == null ? 0 : value.length;
    value = null;
    hasValue = false;
  }

  /** Has a parent look here. */
  void addReader(BucketStore store, byte[] address) {
    if (readers == null || readers.add(Slice.of(address))) {
      store.put(name(READER, address), NOTHING);
      bytes += readers == null ? 0 : READER_OBJECTS + address.length;
    }
  }

  void removeReader(BucketStore store, byte[] address) {
    if (readers == null || readers.remove(Slice.of(address))) {
      store.remove(name(READER, address));
      bytes -= readers == null ? 0 : READER_OBJECTS + address.length;
    }
  }

  /** Calls with each parent that looks here. */
  void forEachReader(BucketStore store, Consumer<byte[]> each) {
    if (readers == null) {
      readers = new HashSet<>();
      store
          .entries(name(READER))
          .forEachRemaining(
              entry -> {
                readers.add(Slice.of(entry.key()));
                bytes += READER_OBJECTS + entry.key().length;
              });
    }
    readers.forEach(address -> each.accept(address.array()));
  }

  /** What the rows are for a parent; null for nothing. */
  byte[] value(Shelves shelves) {
    if (!hasValue) {
      value = shelves.document(node).value(rows(shelves.store()), shelves);
      hasValue = true;
      bytes += value == null ? 0 : value.length;
    }
    return value;
  }

  /** The hash of the document that was told last; null when that was nothing. */
  byte[] told(BucketStore store) {
    if (!knowsTold) {
      told = store.get(name(TOLD));
      knowsTold = true;
    }
    return told;
  }

  void tell(BucketStore store, byte[] hash) {
    told = hash;
    if (hash == null) {
      store.remove(name(TOLD));
    } else {
      store.put(name(TOLD), hash);
    }
  }

  /** Writes the rows that have changed. */
  void keep(BucketStore store) {
    changed.forEach(
        (key, row) -> {
          byte[] name = name(ROW, key.array());
          if (row == null) {
            store.remove(name);
          } else {
            store.put(name, row.toBytes());
          }
        });
    changed.clear();
  }
}
