package weft.kernel.window.state;

import java.util.Arrays;
import weft.kernel.bytes.Blob;

/** One window of one key: its bounds, its accumulators, and how far its panes have come. */
public final class KeyWindow {
  /** No place in the agenda. */
  public static final long NOT_DUE = Long.MAX_VALUE;

  public final long start;
  public final long end;
  public final long[] longs;
  public final Object[] objects;

  /** Records since the last pane. */
  public long pending;

  /** Whether the watermark has reached the end and the pane for that is out. */
  public boolean closed;

  /** The number of the next pane. */
  public int revision;

  /** How many panes came after the end. */
  public int settled;

  /** When the agenda names this window's key for it. */
  public long due = NOT_DUE;

  /** The latest event time, where windows are dropped some time after it. */
  public long last = Long.MIN_VALUE;

  /** A bit for each aggregate declared after this window began. */
  public long missing;

  public KeyWindow(long start, long end, SlotLayout layout) {
    this.start = start;
    this.end = end;
    this.longs = new long[layout.longs];
    this.objects = new Object[layout.objects];
  }

  public void write(SlotLayout layout, Blob out) {
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

  public static KeyWindow read(SlotLayout layout, SlotReader reader, Blob in) {
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

  public void merge(SlotLayout layout, long[] otherLongs, Object[] others) {
    layout.merge(longs, 0, objects, 0, otherLongs, 0, others, 0);
  }

  /**
   * Forgets the records, but not what was told of them, nor when the first and the last of them
   * were.
   */
  public void clear(SlotLayout layout) {
    layout.clear(longs);
    Arrays.fill(objects, null);
  }
}
