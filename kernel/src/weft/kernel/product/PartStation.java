package weft.kernel.product;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import weft.kernel.bytes.Blob;
import weft.kernel.bytes.Slice;
import weft.kernel.change.Desk;
import weft.kernel.change.Letter;
import weft.kernel.change.Post;
import weft.kernel.change.Station;

/**
 * A node of the tree at work: rows come to the places of their links, and what has changed there
 * goes to the parents that look there. At the root it goes out as a document.
 */
final class PartStation implements Station {
  private static final long serialVersionUID = 1;

  private final Tree tree;
  private final int number;

  PartStation(Tree tree, int number) {
    this.tree = tree;
    this.number = number;
  }

  @Override
  public int level() {
    return tree.node(number).level();
  }

  @Override
  public boolean takesAhead() {
    return true;
  }

  @Override
  public void takeAhead(byte[] link, List<Letter> letters, Desk desk) {
    Shelf shelf = new Shelf(desk.store(), number, link);
    take(shelf, letters, tree.document(number));
    shelf.keep();
  }

  @Override
  public void settle(byte[] link, List<Letter> letters, Desk desk) {
    Node node = tree.node(number);
    Document document = tree.document(number);
    Shelf shelf = new Shelf(desk.store(), number, link);
    Taken taken = take(shelf, letters, document);
    if (node.isRoot()) {
      emit(document, shelf, link, desk);
    } else if (taken.hasChanged() || !taken.arrived().isEmpty()) {
      tell(node, document, shelf, taken.arrived(), desk.post());
    }
    shelf.keep();
  }

  /**
   * What letters did to a place.
   *
   * @param hasChanged whether its rows are other ones, or their parts
   * @param arrived the parents that look there from now on
   */
  private record Taken(boolean hasChanged, List<byte[]> arrived) {}

  private static Taken take(Shelf shelf, List<Letter> letters, Document document) {
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
    return new Taken(hasChanged, arrived);
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
  private static void tell(
      Node node, Document document, Shelf shelf, List<byte[]> arrived, Post post) {
    byte[] value = document.value(shelf.rows);
    byte[] hash = document.hash(value);
    if (Arrays.equals(hash, shelf.told)) {
      arrived.forEach(address -> send(node, Slice.of(address), value, post));
    } else {
      shelf.told = hash;
      shelf.readers.forEach((address, nothing) -> send(node, address, value, post));
    }
  }

  private static void send(Node node, Slice address, byte[] value, Post post) {
    Blob in = Blob.reading(address.array());
    in.seek(address.from());
    byte[] link = in.getArray();
    post.send(new Letter(Letter.PART, node.parent(), link, in.getArray(), value, node.place()));
  }

  private static void emit(Document document, Shelf shelf, byte[] key, Desk desk) {
    byte[] value = document.value(shelf.rows);
    byte[] hash = document.hash(value);
    if (!Arrays.equals(hash, shelf.told)) {
      String op = shelf.told == null ? "c" : value == null ? "d" : "u";
      desk.outlet().put(op, key, value);
      shelf.told = hash;
    }
  }
}
