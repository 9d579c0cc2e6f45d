package weft.kernel.window.bucket;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.operator.BucketStore;
import weft.kernel.window.state.KeyState;
import weft.kernel.window.state.KeyWindow;
import weft.kernel.window.state.SlotLayout;
import weft.kernel.window.state.SlotLayouts;
import weft.kernel.window.state.SlotReader;
import weft.kernel.window.state.StateKey;
import weft.kernel.window.time.Millis;
import weft.kernel.window.time.WindowSpec;

/**
 * One batch of one bucket, for windows that are each key's own: sessions, global windows, and
 * windows whose panes also come by count or time.
 *
 * <p>Knot by knot: the knot's records, and the panes that their number brings; then its watermark,
 * and the panes that it brings. A key is read when it is first needed and written once, at the end
 * of the batch.
 */
final class KeyBucket {
  /**
   * A session's place in the agenda is rounded down to this part of the gap, so that times are few.
   */
  private static final int STEPS_PER_GAP = 16;

  /** A key with its windows, as the batch has changed them. */
  private static final class KeyWindows {
    final byte[] bytes;
    List<KeyWindow> windows = new ArrayList<>();
    boolean isStored;

    KeyWindows(byte[] bytes) {
      this.bytes = bytes;
    }
  }

  private final WindowSpec spec;
  private final SlotLayout layout;
  private final KeyState state;
  private final BucketStore store;
  private final SlotLayouts layouts;
  private final PaneRow panes;
  private final List<byte[]> late;
  private final Map<UTF8String, KeyWindows> keys = new HashMap<>();

  KeyBucket(WindowTask task, KeyState state, BucketStore store, PaneRow panes, List<byte[]> late) {
    this.spec = task.spec();
    this.layout = task.layout();
    this.state = state;
    this.store = store;
    this.layouts = new SlotLayouts(layout, store);
    this.panes = panes;
    this.late = late;
  }

  /** Runs one knot: what it brings for each key, then its watermark. */
  void run(LinkedHashMap<UTF8String, List<Arrival>> arrivals, long watermark) {
    arrivals.forEach(this::take);
    if (watermark > state.watermark) {
      move(watermark);
    }
  }

  private void take(UTF8String name, List<Arrival> arrivals) {
    KeyWindows key = key(name);
    Set<KeyWindow> touched = new LinkedHashSet<>();
    if (spec.isSession()) {
      merge(key, arrivals, touched);
    } else {
      for (Arrival arrival : arrivals) {
        KeyWindow window = window(key, arrival.start(), arrival.end());
        add(window, arrival);
        touched.add(window);
      }
    }
    for (KeyWindow window : touched) {
      fireByCount(key, window);
      plan(key, window);
    }
  }

  private KeyWindow window(KeyWindows key, long start, long end) {
    for (KeyWindow window : key.windows) {
      if (window.start == start && window.end == end) {
        return window;
      }
    }
    KeyWindow window = new KeyWindow(start, end, layout);
    key.windows.add(window);
    return window;
  }

  private void add(KeyWindow window, Arrival arrival) {
    window.merge(layout, arrival.longs(), arrival.objects());
    window.pending += arrival.longs()[SlotLayout.RECORDS];
    if (spec.hasSpan()) {
      window.last = Math.max(window.last, layout.last(arrival.longs(), 0));
    }
  }

  /** Sessions that overlap or touch become one; a group of nothing but expired records is late. */
  private void merge(KeyWindows key, List<Arrival> arrivals, Set<KeyWindow> touched) {
    arrivals.sort(Comparator.comparingLong(Arrival::start));
    key.windows.sort(Comparator.comparingLong(window -> window.start));
    List<KeyWindow> merged = new ArrayList<>();
    int nextWindow = 0;
    int nextArrival = 0;
    while (nextWindow < key.windows.size() || nextArrival < arrivals.size()) {
      List<KeyWindow> parts = new ArrayList<>();
      List<Arrival> news = new ArrayList<>();
      long start =
          Math.min(
              nextWindow < key.windows.size() ? key.windows.get(nextWindow).start : Long.MAX_VALUE,
              nextArrival < arrivals.size() ? arrivals.get(nextArrival).start() : Long.MAX_VALUE);
      long end = start;
      for (boolean grows = true; grows; ) {
        grows = false;
        if (nextWindow < key.windows.size() && key.windows.get(nextWindow).start <= end) {
          parts.add(key.windows.get(nextWindow));
          end = Math.max(end, key.windows.get(nextWindow++).end);
          grows = true;
        }
        if (nextArrival < arrivals.size() && arrivals.get(nextArrival).start() <= end) {
          news.add(arrivals.get(nextArrival));
          end = Math.max(end, arrivals.get(nextArrival++).end());
          grows = true;
        }
      }
      if (news.isEmpty()) {
        merged.addAll(parts);
      } else if (spec.isExpired(end, state.watermark) && parts.isEmpty()) {
        news.forEach(each -> late.add(each.lateRow()));
      } else {
        KeyWindow session = unite(start, end, parts);
        news.forEach(each -> add(session, each));
        merged.add(session);
        touched.add(session);
      }
    }
    key.windows = merged;
  }

  /**
   * One session out of several; it counts its panes anew unless its bounds are those of one of
   * them.
   */
  private KeyWindow unite(long start, long end, List<KeyWindow> parts) {
    KeyWindow session = new KeyWindow(start, end, layout);
    for (KeyWindow part : parts) {
      session.merge(layout, part.longs, part.objects);
      session.pending += part.pending;
      session.closed |= part.closed;
      session.missing |= part.missing;
      session.due = Math.min(session.due, part.due);
      if (part.start == start && part.end == end) {
        session.revision = part.revision;
        session.settled = part.settled;
      }
    }
    // A session that grew past the watermark closes again when the watermark reaches its new end.
    session.closed &= spec.isEnded(end, state.watermark);
    return session;
  }

  private void fireByCount(KeyWindows key, KeyWindow window) {
    if (spec.isFinal) {
      return;
    }
    boolean isDue;
    if (spec.isPlain || !spec.isEnded(window.end, state.watermark)) {
      isDue = spec.earlyCount != WindowSpec.NEVER && window.pending >= spec.earlyCount;
    } else {
      // A window whose first records are late closes with them.
      isDue = !window.closed || window.pending >= spec.lateCount;
      window.closed = true;
    }
    if (isDue) {
      fire(key, window, false);
    }
  }

  private void move(long watermark) {
    long before = state.watermark;
    state.watermark = watermark;
    for (UTF8String name : state.takeDue(store)) {
      KeyWindows key = key(name);
      List<KeyWindow> kept = new ArrayList<>();
      for (KeyWindow window : key.windows) {
        if (window.due <= watermark) {
          window.due = KeyWindow.NOT_DUE;
        }
        if (!fireByTime(key, window, before)) {
          kept.add(window);
          plan(key, window);
        }
      }
      key.windows = kept;
    }
  }

  /**
   * Fires a window if the watermark says so, and tells whether its lateness has passed and it is
   * gone.
   */
  private boolean fireByTime(KeyWindows key, KeyWindow window, long before) {
    boolean isEnded = spec.isEnded(window.end, state.watermark);
    boolean isExpired = isExpired(window);
    boolean atEnd = isEnded && !window.closed && !spec.isPlain && !spec.isFinal;
    boolean byTime = window.pending > 0 && (spec.isPlain || !isEnded) && hasCrossed(window, before);
    boolean atLast = isExpired && (spec.isFinal || window.pending > 0);
    if (atEnd || byTime || atLast) {
      window.closed = isEnded;
      fire(key, window, true);
    }
    return isExpired;
  }

  /**
   * Whether the watermark has passed a multiple of the pace that lies after the window's first
   * record.
   */
  private boolean hasCrossed(KeyWindow window, long before) {
    if (spec.earlyEvery == WindowSpec.NEVER) {
      return false;
    }
    long multiple = Millis.floor(state.watermark, spec.earlyEvery);
    return multiple > Math.max(before, first(window));
  }

  /** The lowest event time of a window's records, also of those that it has told and forgotten. */
  private long first(KeyWindow window) {
    return spec.isSession() ? window.start : layout.first(window.longs, 0);
  }

  private void fire(KeyWindows key, KeyWindow window, boolean byWatermark) {
    boolean isEnded = spec.isEnded(window.end, state.watermark);
    UTF8String kind = PaneRow.EARLY;
    if (isEnded) {
      kind = byWatermark && window.settled == 0 ? PaneRow.ON_TIME : PaneRow.LATE;
    }
    if (spec.isGlobal()) {
      panes.of(null, null, isExpired(window));
    } else {
      panes.of(window.start, window.end, isExpired(window));
    }
    panes.write(window, key.bytes, kind, stamp(window));
    window.revision++;
    window.settled += isEnded ? 1 : 0;
    window.pending = 0;
    layout.clearStamp(window.longs, 0);
    if (!spec.accumulates) {
      window.clear(layout);
    }
  }

  private long stamp(KeyWindow window) {
    Long stamp = layout.stamp(window.longs, 0);
    if (stamp != null) {
      return stamp;
    }
    return spec.isGlobal() ? state.watermark : window.end - 1;
  }

  /**
   * Puts a window into the agenda for the next time at which the watermark may change something.
   */
  private void plan(KeyWindows key, KeyWindow window) {
    boolean isEnded = spec.isEnded(window.end, state.watermark);
    long next = expiry(window);
    if (!isEnded && !spec.isPlain && !spec.isFinal) {
      next = Math.min(next, window.end);
    }
    if (spec.earlyEvery != WindowSpec.NEVER && window.pending > 0 && (spec.isPlain || !isEnded)) {
      next = Math.min(next, Millis.next(Math.max(state.watermark, first(window)), spec.earlyEvery));
    }
    if (spec.isSession() && next != KeyWindow.NOT_DUE) {
      next = Millis.floor(next, Math.max(1, spec.gap / STEPS_PER_GAP));
    }
    if (next < window.due) {
      window.due = next;
      state.due(next).fresh.add(key.bytes);
    }
    if (window.due != KeyWindow.NOT_DUE && !window.closed) {
      KeyState.Due due = state.due(window.due);
      due.earliest = Math.min(due.earliest, stamp(window));
    }
  }

  /**
   * When a window is dropped: its lateness after its end, or a global one its time to live after
   * its last record.
   */
  private long expiry(KeyWindow window) {
    if (spec.isGlobal()) {
      return spec.ttl == WindowSpec.NEVER ? KeyWindow.NOT_DUE : Millis.plus(window.last, spec.ttl);
    }
    return Millis.plus(window.end, spec.lateness);
  }

  private boolean isExpired(KeyWindow window) {
    return state.watermark != Millis.NONE && expiry(window) <= state.watermark;
  }

  private KeyWindows key(UTF8String name) {
    return keys.computeIfAbsent(name, each -> read(each.getBytes()));
  }

  private KeyWindows read(byte[] bytes) {
    KeyWindows key = new KeyWindows(bytes);
    byte[] written = store.get(StateKey.key(bytes));
    if (written != null) {
      key.isStored = true;
      Blob in = Blob.reading(written);
      SlotReader reader = layouts.reader(in.getInt());
      for (int left = in.getInt(); left > 0; left--) {
        key.windows.add(KeyWindow.read(layout, reader, in));
      }
      state.windows -= key.windows.size();
    }
    return key;
  }

  /** Writes what the batch leaves behind. */
  void keep() {
    int id = layout.id();
    for (KeyWindows key : keys.values()) {
      if (!key.windows.isEmpty()) {
        Blob out = new Blob();
        out.putInt(id);
        out.putInt(key.windows.size());
        key.windows.forEach(window -> window.write(layout, out));
        store.put(StateKey.key(key.bytes), out.toArray());
        state.windows += key.windows.size();
      } else if (key.isStored) {
        store.remove(StateKey.key(key.bytes));
      }
    }
    state.keepAgenda(store);
  }

  /** The lowest event time that a pane on time may still get, or null when none is to come. */
  Long hold() {
    long hold = Long.MAX_VALUE;
    for (KeyState.Due due : state.agenda.values()) {
      hold = Math.min(hold, due.earliest);
    }
    return hold == Long.MAX_VALUE ? null : hold;
  }
}
