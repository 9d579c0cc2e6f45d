package weft.kernel.window.state;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.operator.BucketStore;
import weft.kernel.window.time.BatchKnots;
import weft.kernel.window.time.Millis;

/**
 * The head of a bucket whose keys have windows of their own: its watermark and its agenda.
 *
 * <p>The agenda says at which times which keys are to be looked at. A key may be named too early or
 * twice, never too late, so a session that grows costs nothing here.
 */
public final class KeyState {
  /**
   * One time of the agenda: how many lists of keys the state keeps for it, and the lowest stamp of
   * their panes.
   */
  public static final class Due {
    int parts;
    public long earliest = Long.MAX_VALUE;
    public final List<byte[]> fresh = new ArrayList<>();
  }

  public long watermark = Millis.NONE;
  public final long[] watermarks;
  public long windows;
  public final TreeMap<Long, Due> agenda = new TreeMap<>();

  public KeyState(int inputs, byte[] written) {
    if (written == null) {
      watermarks = BatchKnots.none(inputs);
      return;
    }
    Blob in = Blob.reading(written);
    watermark = in.getLong();
    watermarks = BatchKnots.read(in);
    windows = in.getLong();
    for (int left = in.getInt(); left > 0; left--) {
      Due due = due(in.getLong());
      due.parts = in.getInt();
      due.earliest = in.getLong();
    }
  }

  public byte[] toArray() {
    Blob out = new Blob();
    out.putLong(watermark);
    BatchKnots.write(watermarks, out);
    out.putLong(windows);
    out.putInt(agenda.size());
    agenda.forEach(
        (time, due) -> {
          out.putLong(time);
          out.putInt(due.parts);
          out.putLong(due.earliest);
        });
    return out.toArray();
  }

  public Due due(long time) {
    return agenda.computeIfAbsent(time, each -> new Due());
  }

  /** Takes the keys whose time the watermark has reached out of the agenda. */
  public Set<UTF8String> takeDue(BucketStore store) {
    Set<UTF8String> keys = new LinkedHashSet<>();
    while (!agenda.isEmpty() && agenda.firstKey() <= watermark) {
      long time = agenda.firstKey();
      Due listed = agenda.remove(time);
      listed.fresh.forEach(bytes -> keys.add(UTF8String.fromBytes(bytes)));
      for (int part = 0; part < listed.parts; part++) {
        Blob in = Blob.reading(store.get(StateKey.agenda(time, part)));
        while (!in.atEnd()) {
          keys.add(UTF8String.fromBytes(in.getArray()));
        }
        store.remove(StateKey.agenda(time, part));
      }
    }
    return keys;
  }

  /** Writes what the batch has added to the agenda. */
  public void keepAgenda(BucketStore store) {
    agenda.forEach(
        (time, due) -> {
          if (!due.fresh.isEmpty()) {
            Blob out = new Blob();
            due.fresh.forEach(out::putArray);
            store.put(StateKey.agenda(time, due.parts++), out.toArray());
            due.fresh.clear();
          }
        });
  }
}
