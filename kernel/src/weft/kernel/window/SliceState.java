package weft.kernel.window;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The head of a bucket's state: its watermark and its slices.
 *
 * <p>It is one small value, read and written once a batch; it says which segments there are, so
 * that nothing is searched for.
 */
final class SliceState {
  /**
   * One slice: how many segments the state keeps of it, and the lowest time that may stamp a pane
   * with it.
   */
  static final class Slice {
    int parts;
    long records;
    long earliest = Long.MAX_VALUE;
    final List<byte[]> fresh = new ArrayList<>();
    Table table;

    void add(byte[] segment) {
      fresh.add(segment);
      records += Segment.records(segment);
      earliest = Math.min(earliest, Segment.earliest(segment));
    }
  }

  long watermark = Knots.NONE;
  final long[] watermarks;
  final TreeMap<Long, Slice> slices = new TreeMap<>();

  /** Ends of windows that have had late panes, and so keep a number of panes per key. */
  final TreeSet<Long> revised = new TreeSet<>();

  SliceState(int inputs, byte[] written) {
    if (written == null) {
      watermarks = Knots.none(inputs);
      return;
    }
    Blob in = Blob.reading(written);
    watermark = in.getLong();
    watermarks = Knots.read(in);
    for (int left = in.getInt(); left > 0; left--) {
      Slice slice = new Slice();
      slices.put(in.getLong(), slice);
      slice.parts = in.getInt();
      slice.records = in.getLong();
      slice.earliest = in.getLong();
    }
    for (int left = in.getInt(); left > 0; left--) {
      revised.add(in.getLong());
    }
  }

  byte[] toArray() {
    Blob out = new Blob();
    out.putLong(watermark);
    Knots.write(watermarks, out);
    out.putInt(slices.size());
    slices.forEach(
        (start, slice) -> {
          out.putLong(start);
          out.putInt(slice.parts);
          out.putLong(slice.records);
          out.putLong(slice.earliest);
        });
    out.putInt(revised.size());
    revised.forEach(out::putLong);
    return out.toArray();
  }

  Slice slice(long start) {
    return slices.computeIfAbsent(start, each -> new Slice());
  }
}
