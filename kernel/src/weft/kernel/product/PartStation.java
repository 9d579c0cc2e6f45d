package weft.kernel.product;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import weft.kernel.bytes.Blob;
import weft.kernel.change.Desk;
import weft.kernel.change.Letter;
import weft.kernel.change.Post;
import weft.kernel.change.Station;
import weft.kernel.operator.BucketStore;

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
    Shelves shelves = new Shelves(tree, desk.store());
    Shelf shelf = shelves.get(number, link);
    take(shelf, letters, desk.store());
    shelves.keep(number, shelf);
  }

  @Override
  public void settle(byte[] link, List<Letter> letters, Desk desk) {
    Node node = tree.node(number);
    Shelves shelves = new Shelves(tree, desk.store());
    Shelf shelf = shelves.get(number, link);
    if (node.isRoot()) {
      take(shelf, letters, desk.store());
      emit(shelf, shelves, desk);
    } else if (node.isLookedUp()) {
      Taken taken = take(shelf, letters, desk.store());
      tell(node, shelf, taken.hasChanged(), taken.arrived(), link, desk);
    } else {
      boolean mayChange = letters.stream().anyMatch(PartStation::isOfRow);
      byte[] before = mayChange ? shelf.value(shelves) : null;
      Taken taken = take(shelf, letters, desk.store());
      boolean hasChanged =
          taken.hasChanged() && !Arrays.equals(before, shelf.value(shelves));
      if (hasChanged || !taken.arrived().isEmpty()) {
        tell(node, shelf, hasChanged, taken.arrived(), shelf.value(shelves), desk);
      }
    }
    shelves.keep(number, shelf);
  }

  private static boolean isOfRow(Letter letter) {
    return letter.kind() != Letter.SUBSCRIBE && letter.kind() != Letter.UNSUBSCRIBE;
  }

  /**
   * What letters did to a place.
   *
   * @param hasChanged whether its rows are other ones, or their parts
   * @param arrived the parents that look there from now on
   */
  private record Taken(boolean hasChanged, List<byte[]> arrived) {}

  private static Taken take(Shelf shelf, List<Letter> letters, BucketStore store) {
    boolean hasChanged = false;
    List<byte[]> arrived = new ArrayList<>();
    for (Letter letter : letters) {
      byte[] row = letter.row();
      switch (letter.kind()) {
        case Letter.UNSUBSCRIBE -> shelf.removeReader(store, row);
        case Letter.SUBSCRIBE -> {
          shelf.addReader(store, row);
          arrived.add(row);
        }
        case Letter.REMOVE -> hasChanged |= shelf.remove(store, row);
        case Letter.ROW -> hasChanged |= shelf.put(store, row, letter.value());
        default -> hasChanged |= shelf.setPart(store, row, letter.part(), letter.value());
      }
    }
    return new Taken(hasChanged, arrived);
  }

  /** Tells parents what a part is to them: all if it has changed, else those who have just come. */
  private static void tell(
      Node node, Shelf shelf, boolean hasChanged, List<byte[]> arrived, byte[] told, Desk desk) {
    if (hasChanged) {
      shelf.forEachReader(desk.store(), address -> send(node, address, told, desk.post()));
    } else {
      arrived.forEach(address -> send(node, address, told, desk.post()));
    }
  }

  private static void send(Node node, byte[] address, byte[] value, Post post) {
    Blob in = Blob.reading(address);
    byte[] link = in.getArray();
    post.send(new Letter(Letter.PART, node.parent(), link, in.getArray(), value, node.place()));
  }

  private void emit(Shelf shelf, Shelves shelves, Desk desk) {
    Document document = tree.document(number);
    byte[] value = document.value(shelf.rows(desk.store()), shelves);
    byte[] hash = document.hash(value);
    byte[] told = shelf.told(desk.store());
    if (!Arrays.equals(hash, told)) {
      String op = told == null ? "c" : value == null ? "d" : "u";
      desk.outlet().put(op, shelf.link(), value);
      shelf.tell(desk.store(), hash);
    }
  }
}
