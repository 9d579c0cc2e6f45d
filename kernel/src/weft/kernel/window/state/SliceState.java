package weft.kernel.window.state;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import weft.kernel.bytes.Blob;
import weft.kernel.window.time.BatchKnots;
import weft.kernel.window.time.Millis;

/**
 * The head of a bucket's state: its watermark and its slices.
 *
 * <p>It is one small value, read and written once a batch; it says which segments there are, so
 * that nothing is searched for.
 */
public final class SliceState {
  /**
   * One slice: how many segments the state keeps of it, and the lowest time that may stamp a pane
   * with it.
   */
  public static final class KeptSlice {
    public int parts;
    long records;
    public long earliest = Long.MAX_VALUE;
    public final List<byte[]> fresh = new ArrayList<>();
    public KeyTable table;

    public void add(byte[] segment) {
      fresh.add(segment);
      records += KeySegment.records(segment);
      earliest = Math.min(earliest, KeySegment.earliest(segment));
    }
  }

  public long watermark = Millis.NONE;
  public final long[] watermarks;
  public final TreeMap<Long, KeptSlice> slices = new TreeMap<>();

  /** Ends of windows that have had late panes, and so keep a number of panes per key. */
  public final TreeSet<Long> revised = new TreeSet<>();

  public SliceState(int inputs, byte[] written) {
    if (written == null) {
      watermarks = BatchKnots.none(inputs);
      return;
    }
    Blob in = Blob.reading(written);
    watermark = in.getLong();
    watermarks = BatchKnots.read(in);
    for (int left = in.getInt(); left > 0; left--) {
      KeptSlice slice = new KeptSlice();
      slices.put(in.getLong(), slice);
      slice.parts = in.getInt();
      slice.records = in.getLong();
      slice.earliest = in.getLong();
    }
    for (int left = in.getInt(); left > 0; left--) {
      revised.add(in.getLong());
    }
  }

  public byte[] toArray() {
    Blob out = new Blob();
    out.putLong(watermark);
    BatchKnots.write(watermarks, out);
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

  public KeptSlice slice(long start) {
    return slices.computeIfAbsent(start, each -> new KeptSlice());
  }
}
