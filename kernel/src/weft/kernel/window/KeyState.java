package weft.kernel.window;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The head of a bucket whose keys have windows of their own: its watermark, its agenda, the layouts in use.
 *
 * <p>The agenda says at which times which keys are to be looked at. A key may be named too early or twice, never too
 * late, so a session that grows costs nothing here.
 */
final class KeyState {
  /** One time of the agenda: how many lists of keys the state keeps for it, and the lowest stamp of their panes. */
  static final class Due {
    int parts;
    long earliest = Long.MAX_VALUE;
    final List<byte[]> fresh = new ArrayList<>();
  }

  long watermark = Knots.NONE;
  long windows;
  final TreeMap<Long, Due> agenda = new TreeMap<>();
  private final Map<Integer, String> layouts = new HashMap<>();
  private final Map<Integer, Reader> readers = new HashMap<>();
  private final Layout layout;

  KeyState(Layout layout, byte[] written) {
    this.layout = layout;
    if (written != null) {
      Blob in = Blob.reading(written);
      watermark = in.getLong();
      windows = in.getLong();
      for (int left = in.getInt(); left > 0; left--) {
        layouts.put(in.getInt(), new String(in.getArray(), StandardCharsets.UTF_8));
      }
      for (int left = in.getInt(); left > 0; left--) {
        Due due = due(in.getLong());
        due.parts = in.getInt();
        due.earliest = in.getLong();
      }
    }
    layouts.put(layout.id(), layout.toJson());
    readers.put(layout.id(), new Reader(layout, layout));
  }

  byte[] toArray() {
    Blob out = new Blob();
    out.putLong(watermark);
    out.putLong(windows);
    if (windows == 0) {
      layouts.keySet().retainAll(List.of(layout.id()));
    }
    out.putInt(layouts.size());
    layouts.forEach(
        (id, text) -> {
          out.putInt(id);
          out.putArray(text.getBytes(StandardCharsets.UTF_8));
        });
    out.putInt(agenda.size());
    agenda.forEach(
        (time, due) -> {
          out.putLong(time);
          out.putInt(due.parts);
          out.putLong(due.earliest);
        });
    return out.toArray();
  }

  Due due(long time) {
    return agenda.computeIfAbsent(time, each -> new Due());
  }

  Reader reader(int id) {
    return readers.computeIfAbsent(id, each -> new Reader(layout, Layout.fromJson(layouts.get(each))));
  }
}
