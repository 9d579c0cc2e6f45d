package weft.kernel.query;

import java.util.ArrayList;
import java.util.List;
import weft.kernel.bytes.Blob;

/**
 * A page of sorted values: entries themselves, or the pages below it, each with an entry that none
 * of its own comes before.
 */
final class Page {
  final List<Sorted> entries = new ArrayList<>();

  /** The numbers of the pages below; null where the entries are the values themselves. */
  List<Integer> below;

  /** A value under the key of its row. */
  record Sorted(byte[] value, byte[] key) {}

  static Page read(Blob in) {
    Page page = new Page();
    int count = in.getInt();
    boolean isLeaf = in.getInt() == 0;
    page.below = isLeaf ? null : new ArrayList<>(count);
    for (int at = 0; at < count; at++) {
      page.entries.add(new Sorted(in.getArray(), in.getArray()));
      if (!isLeaf) {
        page.below.add(in.getInt());
      }
    }
    return page;
  }

  void write(Blob out) {
    out.putInt(entries.size());
    out.putInt(below == null ? 0 : 1);
    for (int at = 0; at < entries.size(); at++) {
      out.putArray(entries.get(at).value());
      out.putArray(entries.get(at).key());
      if (below != null) {
        out.putInt(below.get(at));
      }
    }
  }

  boolean isEmpty() {
    return entries.isEmpty();
  }

  /** Takes out the second half of what is here. */
  Page split() {
    Page right = new Page();
    int half = entries.size() / 2;
    right.entries.addAll(entries.subList(half, entries.size()));
    entries.subList(half, entries.size()).clear();
    if (below != null) {
      right.below = new ArrayList<>(below.subList(half, below.size()));
      below.subList(half, below.size()).clear();
    }
    return right;
  }

  void remove(int at) {
    entries.remove(at);
    if (below != null) {
      below.remove(at);
    }
  }

  /** Becomes what another page is. */
  void become(Page other) {
    entries.clear();
    entries.addAll(other.entries);
    below = other.below;
  }
}
