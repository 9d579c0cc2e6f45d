package weft.kernel.window.bucket;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.operator.BucketStore;
import weft.kernel.operator.Engine;
import weft.kernel.operator.Message;
import weft.kernel.window.state.KeyState;
import weft.kernel.window.state.StateKey;
import weft.kernel.window.time.BatchKnots;
import weft.kernel.window.time.Millis;

/**
 * Lets the first record of a key through and drops those that follow it within a time.
 *
 * <p>First is the first knot's, and within a knot the earliest; a record that comes later but is
 * earlier by less than the time is a duplicate too. A key is forgotten once the watermark has
 * passed its time. A stream without event times has no watermark: there, time has come as far as
 * the last record that was written to it.
 */
public final class DedupeEngine implements Engine {
  private static final long serialVersionUID = 1;

  /** Times of the agenda are rounded down to this part of the time, so that they are few. */
  private static final int STEPS = 16;

  private final long within;

  public DedupeEngine(long within) {
    this.within = within;
  }

  /**
   * A record that waits for its verdict; without an event time, its time is when it was written.
   */
  private record Candidate(byte[] key, long eventTime, byte[] id, byte[] row) {}

  @Override
  public Batch begin(int bucket, BucketStore store) {
    return new DedupeBatch(bucket, store, new KeyState(1, store.get(StateKey.head())));
  }

  private final class DedupeBatch extends BucketBatch {
    private final KeyState state;
    private final TreeMap<Long, List<Candidate>> records = new TreeMap<>();
    private final Map<Long, Long> arrivals = new HashMap<>();

    DedupeBatch(int number, BucketStore store, KeyState state) {
      super(number, store, new BatchKnots(state.watermarks));
      this.state = state;
    }

    @Override
    void takeRecords(Message message) {
      long knot = message.knot();
      knots.add(knot);
      arrivals.merge(knot, message.time(), Math::max);
      read(message.payload(), records.computeIfAbsent(knot, each -> new ArrayList<>()));
    }

    @Override
    public Iterator<Message> end() {
      Blob kept = new Blob();
      Map<UTF8String, Long> seen = new HashMap<>();
      knots.forEach(
          knot -> {
            List<Candidate> brought = records.getOrDefault(knot, new ArrayList<>());
            brought.sort(
                Comparator.comparingLong(Candidate::eventTime)
                    .thenComparing(Candidate::id, Arrays::compare));
            brought.forEach(record -> judge(record, state, store, seen, kept, report));
            long mark = knots.watermark();
            long reached = mark == Millis.NONE ? arrivals.getOrDefault(knot, Millis.NONE) : mark;
            if (reached > state.watermark) {
              state.watermark = reached;
              forget(state, store, seen);
            }
          });
      keep(state, store, seen);
      if (kept.position() > 0) {
        tell(Message.RESULTS, kept.toArray());
      }
      tellReport(state.watermark, null, state.windows);
      return out.iterator();
    }
  }

  private static void read(byte[] payload, List<Candidate> into) {
    Blob in = Blob.reading(payload);
    while (!in.atEnd()) {
      into.add(new Candidate(in.getArray(), in.getLong(), in.getArray(), in.getArray()));
    }
  }

  private void judge(
      Candidate record,
      KeyState state,
      BucketStore store,
      Map<UTF8String, Long> seen,
      Blob kept,
      BucketReport report) {
    UTF8String key = UTF8String.fromBytes(record.key());
    long eventMs = Math.floorDiv(record.eventTime(), 1000L);
    Long first = seen.containsKey(key) ? seen.get(key) : find(store, record.key());
    if (first != null && Math.abs(eventMs - first) < within) {
      report.absorbed++;
      return;
    }
    report.panes++;
    kept.putLong(record.row().length);
    kept.putRaw(record.row(), Platform.BYTE_ARRAY_OFFSET, record.row().length);
    if (first == null || eventMs > first) {
      state.windows += first == null ? 1 : 0;
      seen.put(key, eventMs);
      state.due(slot(Millis.plus(eventMs, within))).fresh.add(record.key());
    }
  }

  private static Long find(BucketStore store, byte[] key) {
    byte[] written = store.get(StateKey.key(key));
    return written == null ? null : (Long) Blob.reading(written).getLong();
  }

  private long slot(long time) {
    return time - Math.floorMod(time, Math.max(1, within / STEPS));
  }

  private void forget(KeyState state, BucketStore store, Map<UTF8String, Long> seen) {
    for (UTF8String key : state.takeDue(store)) {
      Long first = seen.containsKey(key) ? seen.get(key) : find(store, key.getBytes());
      if (first != null && Millis.plus(first, within) <= state.watermark) {
        seen.put(key, null);
        state.windows--;
      } else if (first != null) {
        state.due(slot(Millis.plus(first, within))).fresh.add(key.getBytes());
      }
    }
  }

  private static void keep(KeyState state, BucketStore store, Map<UTF8String, Long> seen) {
    seen.forEach(
        (key, first) -> {
          if (first == null) {
            store.remove(StateKey.key(key.getBytes()));
          } else {
            Blob value = new Blob();
            value.putLong(first);
            store.put(StateKey.key(key.getBytes()), value.toArray());
          }
        });
    state.keepAgenda(store);
    store.put(StateKey.head(), state.toArray());
  }
}
