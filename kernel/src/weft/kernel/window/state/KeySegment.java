package weft.kernel.window.state;

import weft.kernel.bytes.Blob;

/**
 * The entries of many keys as one value: what a batch adds to a slice, and what the state keeps of
 * it.
 *
 * <p>Its head says under which layout it was written, how many entries and how many records it
 * holds.
 */
public final class KeySegment {
  private static final int HEAD = Integer.BYTES * 2 + Long.BYTES * 2;
  private static final long NONE = Long.MAX_VALUE;

  private final Blob out = new Blob();
  private final int layout;
  private int entries;
  private long records;
  private long earliest = NONE;

  public KeySegment(int layout) {
    this.layout = layout;
    out.seek(HEAD);
  }

  public void add(KeyTable table, int entry, SlotLayout layout) {
    table.write(entry, out);
    entries++;
    int l = entry * layout.longs;
    records += table.longs()[l + SlotLayout.RECORDS];
    Long stamp = layout.stamp(table.longs(), l);
    if (stamp != null) {
      earliest = Math.min(earliest, stamp);
    }
  }

  public byte[] toArray() {
    int end = out.position();
    out.seek(0);
    out.putInt(layout);
    out.putInt(entries);
    out.putLong(records);
    out.putLong(earliest);
    out.seek(end);
    return out.toArray();
  }

  public static byte[] of(KeyTable table, SlotLayout layout, int id) {
    KeySegment segment = new KeySegment(id);
    for (int entry = 0; entry < table.size(); entry++) {
      segment.add(table, entry, layout);
    }
    return segment.toArray();
  }

  public static int layout(byte[] segment) {
    return Blob.reading(segment).getInt();
  }

  static long records(byte[] segment) {
    Blob in = Blob.reading(segment);
    in.seek(Integer.BYTES * 2);
    return in.getLong();
  }

  /**
   * The lowest event time that may stamp a pane with these records, or the largest long when there
   * is none.
   */
  static long earliest(byte[] segment) {
    Blob in = Blob.reading(segment);
    in.seek(Integer.BYTES * 2 + Long.BYTES);
    return in.getLong();
  }

  /** Takes every entry of a segment into a table. */
  public static void readInto(byte[] segment, KeyTable table, SlotReader reader) {
    Blob in = Blob.reading(segment);
    in.seek(Integer.BYTES);
    int entries = in.getInt();
    in.seek(HEAD);
    for (; entries > 0; entries--) {
      table.read(in, reader);
    }
  }
}
