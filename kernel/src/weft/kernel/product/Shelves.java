package weft.kernel.product;

import weft.kernel.bytes.Slice;
import weft.kernel.operator.BucketStore;
import weft.kernel.operator.Warm;

/** The shelves of a bucket in a batch. */
final class Shelves {
  private final Tree tree;
  private final BucketStore store;
  private final Warm warm;

  Shelves(Tree tree, BucketStore store) {
    this.tree = tree;
    this.store = store;
    this.warm = store.warm();
  }

  private record Name(int node, Slice link) {}

  BucketStore store() {
    return store;
  }

  Document document(Node node) {
    return tree.document(node.number());
  }

  /** The shelf of a node under a link. */
  Shelf get(int node, byte[] link) {
    Name name = new Name(node, Slice.of(link));
    Shelf shelf = (Shelf) warm.find(name);
    if (shelf == null) {
      shelf = new Shelf(tree.node(node), link, warm.isWhole());
      warm.put(name, shelf);
    }
    return shelf;
  }

  /** Writes what has changed of a shelf. */
  void keep(int node, Shelf shelf) {
    shelf.keep(store);
    warm.put(new Name(node, Slice.of(shelf.link())), shelf);
  }

  /** The parts of a row: what they have told it, or what is found where they are. */
  byte[][] parts(Node node, NodeRow row) {
    byte[][] parts = row.parts();
    for (int part = 0; part < parts.length; part++) {
      if (parts[part] != null && node.looksUp(part)) {
        parts = parts == row.parts() ? parts.clone() : parts;
        parts[part] = get(node.parts()[part], parts[part]).value(this);
      }
    }
    return parts;
  }
}
