package weft.kernel.change;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.operator.BucketStore;
import weft.kernel.spark.RowBytes;
import weft.kernel.spark.RowWriter;

/**
 * The rows of the tables by their keys: whatever order changes come in, the one with the highest
 * position is the row.
 *
 * <p>What a batch does to a row is told to the stations that see its table once: where it stood
 * before the batch, and where it stands after it.
 */
final class TableStep {
  private static final byte ROW = 't';
  private static final byte SWEPT = 'w';

  private final Plan plan;
  private final BucketStore store;
  private final Post post;
  private final List<Map<UTF8String, List<Changed>>> changes = new ArrayList<>();
  private final Map<Integer, Changed> sweeps = new TreeMap<>();
  private final Graves graves;
  private int taken;

  TableStep(Plan plan, BucketStore store, Post post) {
    this.plan = plan;
    this.store = store;
    this.post = post;
    this.graves = new Graves(store, Graves.MOST);
    plan.tables().forEach(table -> changes.add(new HashMap<>()));
  }

  /** Takes a change for all that it is for: see the flags of {@link TableRows}. */
  void take(int table, int kind, Changed change) {
    if ((kind & TableRows.SWEEPS) != 0) {
      sweep(table, change);
    }
    if ((kind & TableRows.CHANGES) != 0) {
      take(table, change);
    }
  }

  private void take(int table, Changed change) {
    taken++;
    changes.get(table).computeIfAbsent(change.name(), key -> new ArrayList<>(1)).add(change);
  }

  /** All that the table held before this is gone. */
  private void sweep(int table, Changed mark) {
    sweeps.merge(table, mark, (one, other) -> other.sweeps(one) ? other : one);
  }

  /** How many changes of rows wait to be settled. */
  int taken() {
    return taken;
  }

  /** Settles what was taken; a batch with many changes does so now and then. */
  void run() {
    for (int table = 0; table < changes.size(); table++) {
      Changed mark = mark(table);
      // In the order of their keys, which is that of another try too: see StationStep.
      for (var each : new TreeMap<>(changes.get(table)).entrySet()) {
        settle(table, each.getKey(), each.getValue(), mark);
      }
      changes.get(table).clear();
    }
    taken = 0;
    graves.keep();
  }

  /** The last sweep of a table; rows that a new one takes away count as changed. */
  private Changed mark(int table) {
    byte[] name = ByteBuffer.allocate(5).put(SWEPT).putInt(table).array();
    byte[] written = store.get(name);
    Changed known = written == null ? null : Changed.read(Blob.reading(written));
    Changed mark = sweeps.get(table);
    if (mark == null || (known != null && !mark.sweeps(known))) {
      return known;
    }
    Blob out = new Blob();
    mark.write(out);
    store.put(name, out.toArray());
    byte[] prefix = rowName(table, new byte[0]);
    store
        .entries(prefix)
        .forEachRemaining(
            row ->
                changes
                    .get(table)
                    .computeIfAbsent(
                        UTF8String.fromBytes(row.key()), each -> new ArrayList<>()));
    return mark;
  }

  private void settle(int table, UTF8String key, List<Changed> brought, Changed mark) {
    byte[] name = rowName(table, key.getBytes());
    byte[] written = store.get(name);
    Changed old = written == null ? null : Changed.read(Blob.reading(written));
    StructType type = plan.tables().get(table).columns();
    Changed now = old;
    for (Changed change : brought) {
      now = now == null ? change : fold(now, change, type, plan.rowWriter(table));
    }
    boolean isSwept = now != null && mark != null && mark.sweeps(now);
    if (now != old || isSwept) {
      tell(
          plan.tables().get(table).views(),
          key.getBytes(),
          old == null ? null : row(old, type),
          isSwept ? null : row(now, type));
    }
    if (isSwept) {
      store.remove(name); // what is older is swept too, should it still come
    } else if (now != old) {
      Blob out = new Blob();
      now.write(out);
      store.put(name, out.toArray());
      if (!now.isAlive() && (old == null || old.isAlive())) {
        graves.add(name, now);
      }
    }
  }

  private static Changed fold(Changed now, Changed change, StructType type, RowWriter writer) {
    if (change.isBefore(now)) {
      return now.takeOver(change, type, writer, true);
    }
    return change.takeOver(now, type, writer, false);
  }

  private void tell(List<View> views, byte[] key, UnsafeRow before, UnsafeRow after) {
    for (View view : views) {
      tell(view, key, view.place(before), view.place(after));
    }
  }

  private void tell(View view, byte[] key, Place before, Place after) {
    boolean hasMoved = before == null || after == null || !before.isAt(after.link());
    boolean isOther = hasMoved || !Arrays.equals(before.own(), after.own());
    if (before != null && (hasMoved || isOther && view.tellsBefore)) {
      byte[] was = view.tellsBefore ? before.own() : null;
      post.send(new Letter(Letter.REMOVE, view.station, before.link(), key, was, view.side));
    }
    if (after != null && isOther) {
      byte[] is = after.own();
      post.send(new Letter(Letter.ROW, view.station, after.link(), key, is, view.side));
    }
    for (int part = 0; part < view.parts.length; part++) {
      byte[] from = Place.linkOf(before, part);
      byte[] to = Place.linkOf(after, part);
      if (!hasMoved && Arrays.equals(from, to)) {
        continue;
      }
      if (from != null) {
        byte[] address = address(before.link(), key);
        post.send(new Letter(Letter.UNSUBSCRIBE, view.parts[part], from, address, null, 0));
      }
      if (to != null) {
        byte[] address = address(after.link(), key);
        post.send(new Letter(Letter.SUBSCRIBE, view.parts[part], to, address, null, 0));
      } else if (after != null && !hasMoved) {
        post.send(new Letter(Letter.PART, view.station, after.link(), key, null, part));
      }
    }
  }

  /** Where a row of a station is found: its link, then its key. */
  static byte[] address(byte[] link, byte[] key) {
    Blob out = new Blob();
    out.putArray(link);
    out.putArray(key);
    return out.toArray();
  }

  private static UnsafeRow row(Changed change, StructType type) {
    return change.isAlive() ? RowBytes.reading(change.row(), type.size()) : null;
  }

  private static byte[] rowName(int table, byte[] key) {
    return ByteBuffer.allocate(5 + key.length).put(ROW).putInt(table).put(key).array();
  }
}
