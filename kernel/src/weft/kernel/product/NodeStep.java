package weft.kernel.product;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.bytes.Sha256;
import weft.kernel.bytes.Slice;
import weft.kernel.window.state.BucketStore;

/**
 * One level of the tree: rows come to the places of their links, and what has changed there goes to
 * the parents that look there. At the root it goes out as a document.
 */
final class NodeStep {
  private static final int HASH_BYTES = 16;

  private final Tree tree;
  private final BucketStore store;
  private final Post post;
  private final Outlet outlet;

  NodeStep(Tree tree, BucketStore store, Post post, Outlet outlet) {
    this.tree = tree;
    this.store = store;
    this.post = post;
    this.outlet = outlet;
  }

  private record Link(int node, UTF8String link) {}

  void run(List<Letter> letters) {
    byPlace(letters).forEach(this::settle);
  }

  /** Settles one place after the other, each when documents are asked for; gives messages of many. */
  Iterator<byte[]> documents(List<Letter> letters) {
    var places = byPlace(letters).entrySet().iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        while (places.hasNext() && !outlet.isFull()) {
          var place = places.next();
          places.remove();
          settle(place.getKey(), place.getValue());
        }
        return !outlet.isEmpty();
      }

      @Override
      public byte[] next() {
        return outlet.empty();
      }
    };
  }

  private static Map<Link, List<Letter>> byPlace(List<Letter> letters) {
    Map<Link, List<Letter>> places = new LinkedHashMap<>();
    for (Letter letter : letters) {
      Link link = new Link(letter.node(), UTF8String.fromBytes(letter.link()));
      places.computeIfAbsent(link, each -> new ArrayList<>(1)).add(letter);
    }
    return places;
  }

  private void settle(Link place, List<Letter> letters) {
    Node node = tree.node(place.node());
    byte[] link = place.link().getBytes();
    Document document = tree.document(node.number);
    Shelf shelf = new Shelf(store, node.number, link);
    letters.sort(Comparator.comparingInt(Letter::kind));
    boolean hasChanged = false;
    List<byte[]> arrived = new ArrayList<>();
    for (Letter letter : letters) {
      switch (letter.kind()) {
        case Letter.UNSUBSCRIBE -> shelf.readers.remove(letter.row());
        case Letter.SUBSCRIBE -> {
          shelf.readers.put(letter.row(), new byte[0]);
          arrived.add(letter.row());
        }
        default -> hasChanged |= change(shelf, document, letter);
      }
    }
    if (node.isRoot()) {
      emit(shelf, document.value(shelf.rows), link);
    } else if (hasChanged || !arrived.isEmpty()) {
      tell(node, shelf, document.value(shelf.rows), arrived);
    }
    shelf.keep();
  }

  private static boolean change(Shelf shelf, Document document, Letter letter) {
    byte[] row = letter.row();
    if (letter.kind() == Letter.REMOVE) {
      shelf.rows.remove(row);
      return true;
    }
    Slice entry = shelf.rows.get(row);
    if (letter.kind() == Letter.ROW) {
      shelf.rows.put(row, Document.entry(Slice.of(letter.value()), document.parts(entry)));
      return true;
    }
    if (entry == null) {
      return false;
    }
    Slice[] parts = document.parts(entry);
    Slice value = Slice.of(letter.value());
    if (Objects.equals(parts[letter.part()], value)) {
      return false;
    }
    parts[letter.part()] = value;
    shelf.rows.put(row, Document.entry(Document.own(entry), parts));
    return true;
  }

  /** Tells parents the value: all of them if it has changed, else those who have just come. */
  private void tell(Node node, Shelf shelf, byte[] value, List<byte[]> arrived) {
    byte[] hash = hash(value);
    if (Arrays.equals(hash, shelf.told)) {
      arrived.forEach(address -> send(node, Slice.of(address), value));
    } else {
      shelf.told = hash;
      shelf.readers.forEach((address, nothing) -> send(node, address, value));
    }
  }

  private void send(Node node, Slice address, byte[] value) {
    Blob in = Blob.reading(address.array());
    in.seek(address.from());
    byte[] link = in.getArray();
    post.send(new Letter(Letter.PART, node.parent, link, in.getArray(), value, node.place));
  }

  private void emit(Shelf shelf, byte[] value, byte[] key) {
    byte[] hash = hash(value);
    if (!Arrays.equals(hash, shelf.told)) {
      outlet.put(shelf.told == null ? "c" : value == null ? "d" : "u", key, value);
      shelf.told = hash;
    }
  }

  private static byte[] hash(byte[] value) {
    return value == null ? null : Arrays.copyOf(Sha256.digest().digest(value), HASH_BYTES);
  }
}
