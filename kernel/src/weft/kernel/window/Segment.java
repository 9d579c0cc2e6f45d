package weft.kernel.window;

/**
 * The entries of many keys as one value: what a batch adds to a slice, and what the state keeps of
 * it.
 *
 * <p>Its head says under which layout it was written, how many entries and how many records it
 * holds.
 */
final class Segment {
  private static final int HEAD = Integer.BYTES * 2 + Long.BYTES * 2;
  private static final long NONE = Long.MAX_VALUE;

  private final Blob out = new Blob();
  private final int layout;
  private int entries;
  private long records;
  private long earliest = NONE;

  Segment(int layout) {
    this.layout = layout;
    out.seek(HEAD);
  }

  void add(Table table, int entry, Layout layout) {
    table.write(entry, out);
    entries++;
    int l = entry * layout.longs;
    records += table.longs()[l + Layout.RECORDS];
    Long stamp = layout.stamp(table.longs(), l);
    if (stamp != null) {
      earliest = Math.min(earliest, stamp);
    }
  }

  byte[] toArray() {
    int end = out.position();
    out.seek(0);
    out.putInt(layout);
    out.putInt(entries);
    out.putLong(records);
    out.putLong(earliest);
    out.seek(end);
    return out.toArray();
  }

  static byte[] of(Table table, Layout layout, int id) {
    Segment segment = new Segment(id);
    for (int entry = 0; entry < table.size(); entry++) {
      segment.add(table, entry, layout);
    }
    return segment.toArray();
  }

  static int layout(byte[] segment) {
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
  static void readInto(byte[] segment, Table table, Reader reader) {
    Blob in = Blob.reading(segment);
    in.seek(Integer.BYTES);
    int entries = in.getInt();
    in.seek(HEAD);
    for (; entries > 0; entries--) {
      table.read(in, reader);
    }
  }
}
