package weft.kernel.product;

import java.io.Serializable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A product: its nodes, the root first. */
final class Tree implements Serializable {
  private static final long serialVersionUID = 1;

  private final List<Node> nodes;
  private transient Map<Integer, Document> documents;

  Tree(List<Node> nodes) {
    this.nodes = List.copyOf(nodes);
  }

  Node node(int number) {
    return nodes.get(number);
  }

  Node root() {
    return nodes.get(0);
  }

  /** Puts documents of a node together; for one thread at a time. */
  Document document(int node) {
    documents = documents == null ? new HashMap<>() : documents;
    return documents.computeIfAbsent(node, at -> new Document(this, nodes.get(at)));
  }
}
