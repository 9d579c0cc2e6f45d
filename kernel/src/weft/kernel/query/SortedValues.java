package weft.kernel.query;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import weft.kernel.bytes.Blob;
import weft.kernel.bytes.Packed;
import weft.kernel.operator.BucketStore;

/**
 * Any number of values in their order, those that are level by the keys of their rows.
 *
 * <p>A tree of pages, of which the topmost stands with its owner: a few values are all in that one.
 * A change reads and writes one page on each level, and the first values are found without looking
 * at the others.
 */
final class SortedValues {
  private static final int FULL = 32;

  private final BucketStore store;
  private final byte[] name;
  private final Comparator<Page.Sorted> order;
  private final Page top;
  private final Map<Integer, Page> pages = new HashMap<>();
  private final Set<Integer> changed = new TreeSet<>();
  private int next;

  /**
   * @param name under which its pages are kept
   * @param in what {@link #write} wrote, or null for no values yet
   */
  SortedValues(BucketStore store, byte[] name, Blob in, Comparator<byte[]> order) {
    this.store = store;
    this.name = name;
    this.order =
        (one, other) -> {
          int level = order.compare(one.value(), other.value());
          return level != 0 ? level : Arrays.compareUnsigned(one.key(), other.key());
        };
    this.next = in == null ? 0 : in.getInt();
    this.top = in == null ? new Page() : Page.read(in);
  }

  boolean isEmpty() {
    return top.isEmpty();
  }

  void add(byte[] value, byte[] key) {
    add(top, new Page.Sorted(value, key));
    if (top.entries.size() > FULL) {
      Page right = top.split();
      Page left = new Page();
      left.become(top);
      top.entries.clear();
      top.below = new ArrayList<>();
      for (Page half : List.of(left, right)) {
        top.entries.add(half.entries.get(0));
        top.below.add(keep(half));
      }
    }
  }

  private void add(Page page, Page.Sorted entry) {
    int found = Collections.binarySearch(page.entries, entry, order);
    if (page.below == null) {
      if (found < 0) {
        page.entries.add(-found - 1, entry);
      } else {
        page.entries.set(found, entry);
      }
      return;
    }
    int at = below(found);
    if (found == -1) {
      page.entries.set(0, entry);
    }
    int number = page.below.get(at);
    Page child = page(number);
    add(child, entry);
    changed.add(number);
    if (child.entries.size() > FULL) {
      Page right = child.split();
      page.entries.add(at + 1, right.entries.get(0));
      page.below.add(at + 1, keep(right));
    }
  }

  /** Forgets a value, which may not have been there. */
  void remove(byte[] value, byte[] key) {
    remove(top, new Page.Sorted(value, key));
    while (top.below != null && top.entries.size() < 2) {
      if (top.isEmpty()) {
        top.below = null;
      } else {
        top.become(drop(top.below.get(0)));
      }
    }
  }

  private void remove(Page page, Page.Sorted entry) {
    int found = Collections.binarySearch(page.entries, entry, order);
    if (page.below == null) {
      if (found >= 0) {
        page.remove(found);
      }
      return;
    }
    int at = below(found);
    int number = page.below.get(at);
    Page child = page(number);
    remove(child, entry);
    changed.add(number);
    if (child.isEmpty()) {
      drop(number);
      page.remove(at);
    }
  }

  /** Which page below an entry belongs to, by where it was found or would stand. */
  private static int below(int found) {
    return found >= 0 ? found : Math.max(0, -found - 2);
  }

  /** The first values, or fewer if there are not so many. */
  List<Page.Sorted> first(int most) {
    List<Page.Sorted> found = new ArrayList<>();
    first(top, most, found);
    return found;
  }

  private void first(Page page, int most, List<Page.Sorted> found) {
    for (int at = 0; at < page.entries.size() && found.size() < most; at++) {
      if (page.below == null) {
        found.add(page.entries.get(at));
      } else {
        first(page(page.below.get(at)), most, found);
      }
    }
  }

  /** Writes what stands with the owner; pages that have changed are kept by themselves. */
  void write(Blob out) {
    out.putInt(next);
    top.write(out);
    for (int number : changed) {
      Page page = pages.get(number);
      if (page == null) {
        store.remove(nameOf(number));
      } else {
        Blob written = new Blob();
        page.write(written);
        store.put(nameOf(number), Packed.pack(written));
      }
    }
    changed.clear();
  }

  private int keep(Page page) {
    pages.put(next, page);
    changed.add(next);
    return next++;
  }

  private Page drop(int number) {
    Page page = page(number);
    pages.remove(number);
    changed.add(number);
    return page;
  }

  private Page page(int number) {
    return pages.computeIfAbsent(number, this::load);
  }

  private Page load(int number) {
    byte[] written = store.get(nameOf(number));
    if (written == null) {
      throw new IllegalStateException(
          "State is damaged: page %d of the values in order is not there.".formatted(number));
    }
    return Page.read(Packed.unpack(written));
  }

  private byte[] nameOf(int page) {
    return ByteBuffer.allocate(name.length + Integer.BYTES).put(name).putInt(page).array();
  }
}
