package weft.kernel.change;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.StructType;
import weft.kernel.bytes.Blob;
import weft.kernel.operator.BucketStore;
import weft.kernel.spark.RowBytes;

/**
 * Holds changes back until all of their transaction are there, and lets transactions go in the
 * order of their ends: what is seen is what the database was between two commits.
 *
 * <p>Changes stand in a queue for each partition of each table, in which transactions follow one
 * another as they were committed. The end of a transaction says how many changes each table has of
 * it. When they are there, each queue is let go up to the last of them. What stands before them
 * there was committed earlier: a row that a snapshot has read, or a change whose end never came.
 */
final class WholeTransactions {
  /** So many transactions that were let go are remembered, for what a connector tells again. */
  static final int MOST = 100_000;

  private static final byte STATE = 'x';
  private static final byte HEAD = 'h';
  private static final byte END = 'e';
  private static final byte DONE = 'd';
  private static final byte KNOWN = 'k';
  private static final byte QUEUE = 'q';
  private static final byte[] IS_DONE = {1};
  private static final byte[] IS_PENDING = {0};

  /** Numbers of what is kept under them: the first, and the one after the last. */
  private static class Range {
    long first;
    long next;

    boolean isEmpty() {
      return first == next;
    }
  }

  /** The changes of one partition of a table; those of this batch are not in the state yet. */
  private static final class Queue extends Range {
    private final List<HeldChange> fresh = new ArrayList<>();

    private long stored() {
      return next - fresh.size();
    }
  }

  private final Boundaries boundaries;
  private final StructType type;
  private final BucketStore store;
  private final TableStep tables;
  private final Range ends = new Range();
  private final Range done = new Range();

  /** The queues by table and partition, in the order of both. */
  private final Map<Long, Queue> queues = new TreeMap<>();

  private final List<Changed> told = new ArrayList<>();

  WholeTransactions(Boundaries boundaries, Plan plan, BucketStore store, TableStep tables) {
    this.boundaries = boundaries;
    this.type = plan.tables().get(boundaries.table()).columns();
    this.store = store;
    this.tables = tables;
    byte[] head = store.get(new byte[] {STATE, HEAD});
    if (head != null) {
      Blob in = Blob.reading(head);
      read(in, ends);
      read(in, done);
      while (!in.atEnd()) {
        read(in, queues.computeIfAbsent(in.getLong(), each -> new Queue()));
      }
    }
  }

  /** Takes a change, or what is told of a transaction. */
  void add(HeldChange held, int table, int partition) {
    if (table == boundaries.table()) {
      told.add(held.change());
    } else {
      long name = (long) table << Integer.SIZE | partition;
      queues.computeIfAbsent(name, each -> new Queue()).fresh.add(held);
    }
  }

  /** Puts what this batch has brought behind the rest, in the order in which it was recorded. */
  private void line() {
    Comparator<Changed> order =
        Comparator.comparingLong(Changed::knot).thenComparingLong(Changed::offset);
    told.sort(order);
    told.forEach(this::addEnd);
    for (Queue queue : queues.values()) {
      queue.fresh.sort(Comparator.comparing(HeldChange::change, order));
      queue.next += queue.fresh.size();
    }
  }

  private void addEnd(Changed change) {
    if (!change.isAlive()) { // a rule has taken it away
      return;
    }
    UnsafeRow row = RowBytes.reading(change.row(), type.size());
    int status = type.fieldIndex("status");
    int collections = type.fieldIndex("data_collections");
    byte[] id = Boundaries.nameOf(row.getUTF8String(type.fieldIndex("id")).getBytes());
    boolean isEnd = !row.isNullAt(status) && row.getUTF8String(status).toString().equals("END");
    if (!isEnd || store.get(known(id)) != null) {
      return;
    }
    int[] counts = new int[boundaries.topics().size()];
    ArrayData counted = row.isNullAt(collections) ? null : row.getArray(collections);
    for (int at = 0; counted != null && at < counted.numElements(); at++) {
      var each = counted.getStruct(at, 2);
      int table = each.isNullAt(0) ? -1 : boundaries.tableOf(each.getUTF8String(0).toString());
      if (table >= 0) {
        counts[table] += each.isNullAt(1) ? 0 : (int) each.getLong(1);
      }
    }
    Blob out = new Blob();
    out.putArray(id);
    for (int count : counts) {
      out.putInt(count);
    }
    store.put(named(END, ends.next++), out.toArray());
    store.put(known(id), IS_PENDING);
  }

  /** Lets go what is whole; returns what is waited for, or nothing. */
  String release() {
    line();
    letLooseOnes();
    String waits = "";
    while (waits.isEmpty() && !ends.isEmpty()) {
      Blob end = Blob.reading(store.get(named(END, ends.first)));
      byte[] id = end.getArray();
      waits = missing(id, end);
      if (waits.isEmpty()) {
        queues.forEach((name, queue) -> letGo(name, queue, lastOf(name, queue, id)));
        store.remove(named(END, ends.first++));
        remember(id);
        letLooseOnes();
      }
    }
    keep();
    return waits.isEmpty() ? unended() : waits;
  }

  /** What a transaction lacks of a table, or nothing. */
  private String missing(byte[] id, Blob counts) {
    for (int table = 0; table < boundaries.topics().size(); table++) {
      int wanted = counts.getInt();
      Set<ByteBuffer> found = new HashSet<>();
      int partitions = 0;
      boolean isPast = false;
      for (var each : queues.entrySet()) {
        if (each.getKey() >> Integer.SIZE != table) {
          continue;
        }
        partitions++;
        Queue queue = each.getValue();
        for (long at = queue.first; at < queue.next && found.size() < wanted && !isPast; at++) {
          HeldChange held = held(each.getKey(), queue, at);
          if (held.isOf(id) && held.tells()) {
            found.add(held.identity()); // a connector may tell a change again
          }
          isPast = !held.isOf(id) && isPending(held.transaction());
        }
      }
      // In one partition nothing comes of a transaction behind what was committed later: what is
      // missing could not be read, and is a dead letter of its table.
      if (found.size() < wanted && !(isPast && partitions == 1)) {
        String topic = boundaries.topics().get(table);
        String name = new String(id, StandardCharsets.UTF_8);
        return String.format(
            "transaction %s has %d of %d changes of %s", name, found.size(), wanted, topic);
      }
    }
    return "";
  }

  /** The first transaction whose end has not come, if there is one. */
  private String unended() {
    for (var each : queues.entrySet()) {
      if (!each.getValue().isEmpty()) {
        HeldChange held = held(each.getKey(), each.getValue(), each.getValue().first);
        String name = new String(held.transaction(), StandardCharsets.UTF_8);
        return "transaction " + name + " has not ended";
      }
    }
    return "";
  }

  /** Behind the last change of a transaction in a queue; its first where it has none. */
  private long lastOf(long name, Queue queue, byte[] id) {
    long last = queue.first;
    for (long at = queue.first; at < queue.next; at++) {
      HeldChange held = held(name, queue, at);
      if (held.isOf(id)) {
        last = at + 1;
      } else if (isPending(held.transaction())) {
        break; // what was committed later
      }
    }
    return last;
  }

  /** Rows of snapshots, and what is told again of what was let go, wait for nobody. */
  private void letLooseOnes() {
    for (var each : queues.entrySet()) {
      Queue queue = each.getValue();
      long until = queue.first;
      while (until < queue.next && isLoose(held(each.getKey(), queue, until).transaction())) {
        until++;
      }
      letGo(each.getKey(), queue, until);
    }
  }

  private boolean isLoose(byte[] transaction) {
    return transaction == null || Arrays.equals(IS_DONE, store.get(known(transaction)));
  }

  private boolean isPending(byte[] transaction) {
    return transaction != null && Arrays.equals(IS_PENDING, store.get(known(transaction)));
  }

  private void letGo(long name, Queue queue, long until) {
    for (; queue.first < until; queue.first++) {
      HeldChange held = held(name, queue, queue.first);
      tables.take((int) (name >> Integer.SIZE), held.kind(), held.change());
      if (queue.first < queue.stored()) {
        store.remove(nameOf(name, queue.first));
      }
    }
  }

  private void remember(byte[] id) {
    store.put(known(id), IS_DONE);
    store.put(named(DONE, done.next++), id);
    while (done.next - done.first > MOST) {
      byte[] oldest = named(DONE, done.first++);
      store.remove(known(store.get(oldest)));
      store.remove(oldest);
    }
  }

  private HeldChange held(long name, Queue queue, long at) {
    return at < queue.stored()
        ? HeldChange.read(store.get(nameOf(name, at)))
        : queue.fresh.get((int) (at - queue.stored()));
  }

  private void keep() {
    Blob out = new Blob();
    write(out, ends);
    write(out, done);
    queues.forEach(
        (name, queue) -> {
          out.putLong(name);
          write(out, queue);
          for (long at = Math.max(queue.first, queue.stored()); at < queue.next; at++) {
            store.put(nameOf(name, at), held(name, queue, at).toBytes());
          }
        });
    store.put(new byte[] {STATE, HEAD}, out.toArray());
  }

  private static void write(Blob out, Range range) {
    out.putLong(range.first);
    out.putLong(range.next);
  }

  private static void read(Blob in, Range range) {
    range.first = in.getLong();
    range.next = in.getLong();
  }

  private static byte[] named(byte kind, long number) {
    return ByteBuffer.allocate(2 + Long.BYTES).put(STATE).put(kind).putLong(number).array();
  }

  private static byte[] nameOf(long queue, long number) {
    return ByteBuffer.allocate(2 + 2 * Long.BYTES)
        .put(STATE)
        .put(QUEUE)
        .putLong(queue)
        .putLong(number)
        .array();
  }

  private static byte[] known(byte[] id) {
    return ByteBuffer.allocate(2 + id.length).put(STATE).put(KNOWN).put(id).array();
  }
}
