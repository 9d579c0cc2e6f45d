package weft.kernel.window;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

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

  private final Shape shape;
  private final Layout layout;
  private final SliceState state;
  private final Store store;
  private final Layouts layouts;
  private final PaneRow panes;
  private final Map<Long, Map<UTF8String, Integer>> revisions = new HashMap<>();

  SliceBucket(Task task, SliceState state, Store store, PaneRow panes) {
    this.shape = task.shape();
    this.layout = task.layout();
    this.state = state;
    this.store = store;
    this.layouts = new Layouts(layout, store);
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
    if (!shape.isFinal) {
      TreeSet<Long> ends = new TreeSet<>();
      late.keySet().forEach(slice -> addEnds(slice, Long.MIN_VALUE, state.watermark, ends));
      ends.removeIf(end -> shape.isExpired(end, state.watermark));
      ends.forEach(end -> revise(end, late));
    }
    late.forEach((slice, segments) -> segments.forEach(segment -> takeInto(slice, segment)));
  }

  private void takeInto(long start, byte[] segment) {
    take(start, segment);
    SliceState.Slice slice = state.slice(start);
    if (slice.table != null) {
      Segment.readInto(segment, slice.table, layouts.reader(Segment.layout(segment)));
    }
  }

  /**
   * Late panes of a window that has fired: for each key with new records, all of them or the new
   * ones.
   */
  private void revise(long end, Map<Long, List<byte[]>> late) {
    Table brought = new Table(layout);
    for (long start = end - shape.size; start < end; start = Millis.plus(start, shape.width())) {
      for (byte[] segment : late.getOrDefault(start, List.of())) {
        Segment.readInto(segment, brought, layouts.reader(Segment.layout(segment)));
      }
    }
    Table before = new Table(layout);
    for (Table slice : tables(end)) {
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
    panes.of(end - shape.size, end, false);
    for (int entry = 0; entry < brought.size(); entry++) {
      byte[] key = brought.key(entry);
      int known = before.find(key, Platform.BYTE_ARRAY_OFFSET, key.length, brought.hash(entry));
      int revision = counts.getOrDefault(UTF8String.fromBytes(key), known < 0 ? 0 : 1);
      counts.put(UTF8String.fromBytes(key), revision + 1);
      if (shape.accumulates) {
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
    long shift = shape.isFinal ? shape.lateness : 0;
    TreeSet<Long> ends = new TreeSet<>();
    long after = before == Knots.NONE ? Knots.NONE : Millis.minus(before, shift);
    state
        .slices
        .keySet()
        .forEach(slice -> addEnds(slice, after, Millis.minus(watermark, shift), ends));
    ends.forEach(this::fire);
    dropExpired();
  }

  /** Adds the ends of the windows that hold a slice, after one time and up to another. */
  private void addEnds(long slice, long after, long upTo, TreeSet<Long> ends) {
    long last = Math.min(shape.lastEnd(slice), upTo);
    for (long end = firstEnd(slice, after); end <= last; end = Millis.plus(end, shape.slide)) {
      ends.add(end);
    }
  }

  /**
   * The end of the first window that holds a slice and ends after a time; it may be past the last
   * one.
   */
  private long firstEnd(long slice, long after) {
    long first = shape.firstEnd(slice);
    return after < first ? first : shape.endAfter(after);
  }

  private void fire(long end) {
    Table window = whole(end);
    panes.of(end - shape.size, end, shape.isExpired(end, state.watermark));
    for (int entry = 0; entry < window.size(); entry++) {
      Long stamp = layout.stamp(window.longs(), entry * layout.longs);
      panes.write(window, entry, PaneRow.ON_TIME, 0, stamp == null ? end - 1 : stamp);
    }
  }

  private Table whole(long end) {
    List<Table> slices = tables(end);
    if (slices.size() == 1) {
      return slices.get(0);
    }
    Table window = new Table(layout);
    for (Table slice : slices) {
      for (int entry = 0; entry < slice.size(); entry++) {
        window.take(slice, entry);
      }
      window.addMissing(slice.missing());
    }
    return window;
  }

  private List<Table> tables(long end) {
    List<Table> tables = new ArrayList<>();
    state
        .slices
        .subMap(end - shape.size, end)
        .forEach((start, slice) -> tables.add(table(start, slice)));
    return tables;
  }

  private Table table(long start, SliceState.Slice slice) {
    if (slice.table == null) {
      slice.table = new Table(layout);
      for (int part = 0; part < slice.parts; part++) {
        byte[] segment = store.get(Place.segment(start, part));
        Segment.readInto(segment, slice.table, layouts.reader(Segment.layout(segment)));
      }
      for (byte[] segment : slice.fresh) {
        Segment.readInto(segment, slice.table, layouts.reader(Segment.layout(segment)));
      }
    }
    return slice.table;
  }

  private void dropExpired() {
    List<Long> expired = new ArrayList<>();
    for (long start : state.slices.keySet()) {
      if (shape.isExpired(shape.lastEnd(start), state.watermark)) {
        expired.add(start);
      }
    }
    for (long start : expired) {
      SliceState.Slice slice = state.slices.remove(start);
      for (int part = 0; part < slice.parts; part++) {
        store.remove(Place.segment(start, part));
      }
    }
    while (!state.revised.isEmpty() && shape.isExpired(state.revised.first(), state.watermark)) {
      long end = state.revised.pollFirst();
      revisions.remove(end);
      store.remove(Place.revisions(end));
    }
  }

  /** Writes what the batch leaves behind. */
  void keep() {
    state.slices.forEach(this::keepSlice);
    revisions.forEach((end, counts) -> store.put(Place.revisions(end), Revisions.write(counts)));
  }

  private void keepSlice(long start, SliceState.Slice slice) {
    if (slice.fresh.isEmpty()) {
      return;
    }
    boolean merges = slice.parts + 1 > MOST_PARTS && table(start, slice).missing() == 0;
    if (slice.fresh.size() > 1 || merges) {
      Table table = merges ? table(start, slice) : new Table(layout);
      if (merges) {
        for (int part = 1; part < slice.parts; part++) {
          store.remove(Place.segment(start, part));
        }
        slice.parts = 0;
      } else {
        slice.fresh.forEach(
            segment -> Segment.readInto(segment, table, layouts.reader(Segment.layout(segment))));
      }
      store.put(Place.segment(start, slice.parts++), Segment.of(table, layout, layout.id()));
    } else {
      store.put(Place.segment(start, slice.parts++), slice.fresh.get(0));
    }
    slice.fresh.clear();
  }

  private Map<UTF8String, Integer> readRevisions(long end) {
    byte[] written = state.revised.contains(end) ? store.get(Place.revisions(end)) : null;
    return written == null ? new HashMap<>() : Revisions.read(written);
  }

  /** How many windows have records and are not finished. */
  long windows() {
    long windows = 0;
    long counted =
        state.watermark == Knots.NONE ? Knots.NONE : Millis.minus(state.watermark, shape.lateness);
    for (long slice : state.slices.keySet()) {
      long last = shape.lastEnd(slice);
      long first = firstEnd(slice, counted);
      if (first <= last) {
        windows += Millis.minus(last, first) / shape.slide + 1;
        counted = last;
      }
    }
    return windows;
  }

  /** The lowest event time that a pane on time may still get, or null when none is to come. */
  Long hold() {
    Long hold = null;
    long shift = shape.isFinal ? shape.lateness : 0;
    long passed = state.watermark == Knots.NONE ? Knots.NONE : Millis.minus(state.watermark, shift);
    for (Map.Entry<Long, SliceState.Slice> each : state.slices.entrySet()) {
      long first = firstEnd(each.getKey(), passed);
      if (first <= shape.lastEnd(each.getKey())) {
        long lowest = Math.min(first - 1, each.getValue().earliest);
        hold = hold == null ? lowest : Math.min(hold, lowest);
      }
    }
    return hold;
  }
}
