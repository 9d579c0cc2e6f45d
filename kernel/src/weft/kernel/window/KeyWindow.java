package weft.kernel.window;

import java.util.Arrays;

/** One window of one key: its bounds, its accumulators, and how far its panes have come. */
final class KeyWindow {
  /** No place in the agenda. */
  static final long NOT_DUE = Long.MAX_VALUE;

  final long start;
  final long end;
  final long[] longs;
  final Object[] objects;

  /** Records since the last pane. */
  long pending;

  /** Whether the watermark has reached the end and the pane for that is out. */
  boolean closed;

  /** The number of the next pane. */
  int revision;

  /** How many panes came after the end. */
  int settled;

  /** When the agenda names this window's key for it. */
  long due = NOT_DUE;

  /** The latest event time, where windows are dropped some time after it. */
  long last = Long.MIN_VALUE;

  /** A bit for each aggregate declared after this window began. */
  long missing;

  KeyWindow(long start, long end, Layout layout) {
    this.start = start;
    this.end = end;
    this.longs = new long[layout.longs];
    this.objects = new Object[layout.objects];
  }

  void write(Layout layout, Blob out) {
    out.putLong(start);
    out.putLong(end);
    out.putLong(pending);
    out.putInt(closed ? 1 : 0);
    out.putInt(revision);
    out.putInt(settled);
    out.putLong(due);
    out.putLong(last);
    out.putLong(missing);
    layout.write(longs, 0, objects, 0, out);
  }

  static KeyWindow read(Layout layout, Reader reader, Blob in) {
    KeyWindow window = new KeyWindow(in.getLong(), in.getLong(), layout);
    window.pending = in.getLong();
    window.closed = in.getInt() == 1;
    window.revision = in.getInt();
    window.settled = in.getInt();
    window.due = in.getLong();
    window.last = in.getLong();
    window.missing = reader.missing(in.getLong());
    reader.read(in, window.longs, 0, window.objects, 0, true);
    return window;
  }

  void merge(Layout layout, long[] otherLongs, Object[] others) {
    layout.merge(longs, 0, objects, 0, otherLongs, 0, others, 0);
  }

  /**
   * Forgets the records, but not what was told of them, nor when the first and the last of them
   * were.
   */
  void clear(Layout layout) {
    layout.clear(longs);
    Arrays.fill(objects, null);
  }
}
