package weft.kernel.window.bucket;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.operator.BucketStore;
import weft.kernel.window.state.KeySegment;
import weft.kernel.window.state.KeyTable;
import weft.kernel.window.state.Revisions;
import weft.kernel.window.state.SliceState;
import weft.kernel.window.state.SlotLayout;
import weft.kernel.window.state.SlotLayouts;
import weft.kernel.window.state.StateKey;
import weft.kernel.window.time.Millis;
import weft.kernel.window.time.WindowSpec;

/**
 * One batch of one bucket, for windows whose keys fire together.
 *
 * <p>Records that came before any of their windows fired are taken in first, whichever knots
 * brought them; nothing that fires in between could tell the difference. Then, knot by knot:
 * records of windows that have fired, and their late panes; the knot's watermark, and what it
 * fires; what has expired is dropped. Segments of slices that are gone by the end of the batch
 * never reach the state.
 */
final class SliceBucket {
  /**
   * Segments of one slice before they are merged into one: many small batches stay cheap to read.
   */
  private static final int MOST_PARTS = 16;

  private final WindowSpec spec;
  private final SlotLayout layout;
  private final SliceState state;
  private final BucketStore store;
  private final SlotLayouts layouts;
  private final PaneRow panes;
  private final Map<Long, Map<UTF8String, Integer>> revisions = new HashMap<>();

  SliceBucket(WindowTask task, SliceState state, BucketStore store, PaneRow panes) {
    this.spec = task.spec();
    this.layout = task.layout();
    this.state = state;
    this.store = store;
    this.layouts = new SlotLayouts(layout, store);
    this.panes = panes;
  }

  void take(long slice, byte[] segment) {
    state.slice(slice).add(segment);
  }

  /** Runs one knot: the records of slices that may have fired, then the watermark. */
  void run(Map<Long, List<byte[]>> late, long watermark) {
    takeLate(late);
    if (watermark > state.watermark) {
      move(watermark);
    }
  }

  private void takeLate(Map<Long, List<byte[]>> late) {
    if (late.isEmpty()) {
      return;
    }
    if (!spec.isFinal) {
      TreeSet<Long> ends = new TreeSet<>();
      late.keySet().forEach(slice -> addEnds(slice, Long.MIN_VALUE, state.watermark, ends));
      ends.removeIf(end -> spec.isExpired(end, state.watermark));
      ends.forEach(end -> revise(end, late));
    }
    late.forEach((slice, segments) -> segments.forEach(segment -> takeInto(slice, segment)));
  }

  private void takeInto(long start, byte[] segment) {
    take(start, segment);
    SliceState.KeptSlice slice = state.slice(start);
    if (slice.table != null) {
      KeySegment.readInto(segment, slice.table, layouts.reader(KeySegment.layout(segment)));
    }
  }

  /**
   * Late panes of a window that has fired: for each key with new records, all of them or the new
   * ones.
   */
  private void revise(long end, Map<Long, List<byte[]>> late) {
    KeyTable brought = new KeyTable(layout);
    for (long start = end - spec.size; start < end; start = Millis.plus(start, spec.width())) {
      for (byte[] segment : late.getOrDefault(start, List.of())) {
        KeySegment.readInto(segment, brought, layouts.reader(KeySegment.layout(segment)));
      }
    }
    KeyTable before = new KeyTable(layout);
    for (KeyTable slice : tables(end)) {
      for (int entry = 0; entry < brought.size(); entry++) {
        long key = (long) Platform.BYTE_ARRAY_OFFSET + brought.keyAt(entry);
        int found = slice.find(brought.keys(), key, brought.keyLength(entry), brought.hash(entry));
        if (found >= 0) {
          before.take(slice, found);
        }
      }
      before.addMissing(slice.missing());
    }
    Map<UTF8String, Integer> counts = revisions.computeIfAbsent(end, this::readRevisions);
    panes.of(end - spec.size, end, false);
    for (int entry = 0; entry < brought.size(); entry++) {
      byte[] key = brought.key(entry);
      int known = before.find(key, Platform.BYTE_ARRAY_OFFSET, key.length, brought.hash(entry));
      int revision = counts.getOrDefault(UTF8String.fromBytes(key), known < 0 ? 0 : 1);
      counts.put(UTF8String.fromBytes(key), revision + 1);
      if (spec.accumulates) {
        before.take(brought, entry);
        int whole = before.find(key, Platform.BYTE_ARRAY_OFFSET, key.length, brought.hash(entry));
        panes.write(before, whole, PaneRow.LATE, revision, end - 1);
      } else {
        panes.write(brought, entry, PaneRow.LATE, revision, end - 1);
      }
    }
    state.revised.add(end);
  }

  private void move(long watermark) {
    long before = state.watermark;
    state.watermark = watermark;
    long shift = spec.isFinal ? spec.lateness : 0;
    TreeSet<Long> ends = new TreeSet<>();
    long after = before == Millis.NONE ? Millis.NONE : Millis.minus(before, shift);
    state
        .slices
        .keySet()
        .forEach(slice -> addEnds(slice, after, Millis.minus(watermark, shift), ends));
    ends.forEach(this::fire);
    dropExpired();
  }

  /** Adds the ends of the windows that hold a slice, after one time and up to another. */
  private void addEnds(long slice, long after, long upTo, TreeSet<Long> ends) {
    long last = Math.min(spec.lastEnd(slice), upTo);
    for (long end = firstEnd(slice, after); end <= last; end = Millis.plus(end, spec.slide)) {
      ends.add(end);
    }
  }

  /**
   * The end of the first window that holds a slice and ends after a time; it may be past the last
   * one.
   */
  private long firstEnd(long slice, long after) {
    long first = spec.firstEnd(slice);
    return after < first ? first : spec.endAfter(after);
  }

  private void fire(long end) {
    KeyTable window = whole(end);
    panes.of(end - spec.size, end, spec.isExpired(end, state.watermark));
    for (int entry = 0; entry < window.size(); entry++) {
      Long stamp = layout.stamp(window.longs(), entry * layout.longs);
      panes.write(window, entry, PaneRow.ON_TIME, 0, stamp == null ? end - 1 : stamp);
    }
  }

  private KeyTable whole(long end) {
    List<KeyTable> slices = tables(end);
    if (slices.size() == 1) {
      return slices.get(0);
    }
    KeyTable window = new KeyTable(layout);
    for (KeyTable slice : slices) {
      for (int entry = 0; entry < slice.size(); entry++) {
        window.take(slice, entry);
      }
      window.addMissing(slice.missing());
    }
    return window;
  }

  private List<KeyTable> tables(long end) {
    List<KeyTable> tables = new ArrayList<>();
    state
        .slices
        .subMap(end - spec.size, end)
        .forEach((start, slice) -> tables.add(table(start, slice)));
    return tables;
  }

  private KeyTable table(long start, SliceState.KeptSlice slice) {
    if (slice.table == null) {
      slice.table = new KeyTable(layout);
      for (int part = 0; part < slice.parts; part++) {
        byte[] segment = store.get(StateKey.segment(start, part));
        KeySegment.readInto(segment, slice.table, layouts.reader(KeySegment.layout(segment)));
      }
      for (byte[] segment : slice.fresh) {
        KeySegment.readInto(segment, slice.table, layouts.reader(KeySegment.layout(segment)));
      }
    }
    return slice.table;
  }

  private void dropExpired() {
    List<Long> expired = new ArrayList<>();
    for (long start : state.slices.keySet()) {
      if (spec.isExpired(spec.lastEnd(start), state.watermark)) {
        expired.add(start);
      }
    }
    for (long start : expired) {
      SliceState.KeptSlice slice = state.slices.remove(start);
      for (int part = 0; part < slice.parts; part++) {
        store.remove(StateKey.segment(start, part));
      }
    }
    while (!state.revised.isEmpty() && spec.isExpired(state.revised.first(), state.watermark)) {
      long end = state.revised.pollFirst();
      revisions.remove(end);
      store.remove(StateKey.revisions(end));
    }
  }

  /** Writes what the batch leaves behind. */
  void keep() {
    state.slices.forEach(this::keepSlice);
    revisions.forEach((end, counts) -> store.put(StateKey.revisions(end), Revisions.write(counts)));
  }

  private void keepSlice(long start, SliceState.KeptSlice slice) {
    if (slice.fresh.isEmpty()) {
      return;
    }
    boolean merges = slice.parts + 1 > MOST_PARTS && table(start, slice).missing() == 0;
    if (slice.fresh.size() > 1 || merges) {
      KeyTable table = merges ? table(start, slice) : new KeyTable(layout);
      if (merges) {
        for (int part = 1; part < slice.parts; part++) {
          store.remove(StateKey.segment(start, part));
        }
        slice.parts = 0;
      } else {
        slice.fresh.forEach(
            segment ->
                KeySegment.readInto(segment, table, layouts.reader(KeySegment.layout(segment))));
      }
      store.put(StateKey.segment(start, slice.parts++), KeySegment.of(table, layout, layout.id()));
    } else {
      store.put(StateKey.segment(start, slice.parts++), slice.fresh.get(0));
    }
    slice.fresh.clear();
  }

  private Map<UTF8String, Integer> readRevisions(long end) {
    byte[] written = state.revised.contains(end) ? store.get(StateKey.revisions(end)) : null;
    return written == null ? new HashMap<>() : Revisions.read(written);
  }

  /** How many windows have records and are not finished. */
  long windows() {
    long windows = 0;
    long counted =
        state.watermark == Millis.NONE ? Millis.NONE : Millis.minus(state.watermark, spec.lateness);
    for (long slice : state.slices.keySet()) {
      long last = spec.lastEnd(slice);
      long first = firstEnd(slice, counted);
      if (first <= last) {
        windows += Millis.minus(last, first) / spec.slide + 1;
        counted = last;
      }
    }
    return windows;
  }

  /** The lowest event time that a pane on time may still get, or null when none is to come. */
  Long hold() {
    Long hold = null;
    long shift = spec.isFinal ? spec.lateness : 0;
    long passed =
        state.watermark == Millis.NONE ? Millis.NONE : Millis.minus(state.watermark, shift);
    for (Map.Entry<Long, SliceState.KeptSlice> each : state.slices.entrySet()) {
      long first = firstEnd(each.getKey(), passed);
      if (first <= spec.lastEnd(each.getKey())) {
        long lowest = Math.min(first - 1, each.getValue().earliest);
        hold = hold == null ? lowest : Math.min(hold, lowest);
      }
    }
    return hold;
  }
}
