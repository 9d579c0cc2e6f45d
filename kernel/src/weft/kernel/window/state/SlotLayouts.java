package weft.kernel.window.state;

import java.util.HashMap;
import java.util.Map;
import weft.kernel.operator.BucketStore;

/** Reads state written under any layout that this bucket has seen. */
public final class SlotLayouts {
  private final SlotLayout layout;
  private final BucketStore store;
  private final Map<Integer, SlotReader> readers = new HashMap<>();

  public SlotLayouts(SlotLayout layout, BucketStore store) {
    this.layout = layout;
    this.store = store;
    readers.put(layout.id(), new SlotReader(layout, layout));
    byte[] place = StateKey.layout(layout.id());
    if (store.get(place) == null) {
      store.put(place, StateKey.bytes(layout.toJson()));
    }
  }

  public SlotReader reader(int id) {
    return readers.computeIfAbsent(id, this::open);
  }

  private SlotReader open(int id) {
    byte[] text = store.get(StateKey.layout(id));
    if (text == null) {
      throw new IllegalStateException(
          "Window state was written under a layout that it does not name: " + id + ".");
    }
    return new SlotReader(layout, SlotLayout.fromJson(StateKey.text(text)));
  }
}
