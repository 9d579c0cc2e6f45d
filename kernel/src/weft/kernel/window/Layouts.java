package weft.kernel.window;

import java.util.HashMap;
import java.util.Map;

/** Reads state written under any layout that this bucket has seen. */
final class Layouts {
  private final Layout layout;
  private final Store store;
  private final Map<Integer, Reader> readers = new HashMap<>();

  Layouts(Layout layout, Store store) {
    this.layout = layout;
    this.store = store;
    readers.put(layout.id(), new Reader(layout, layout));
    byte[] place = Place.layout(layout.id());
    if (store.get(place) == null) {
      store.put(place, Place.bytes(layout.toJson()));
    }
  }

  Reader reader(int id) {
    return readers.computeIfAbsent(id, this::open);
  }

  private Reader open(int id) {
    byte[] text = store.get(Place.layout(id));
    if (text == null) {
      throw new IllegalStateException(
          "Window state was written under a layout that it does not name: " + id + ".");
    }
    return new Reader(layout, Layout.fromJson(Place.text(text)));
  }
}
