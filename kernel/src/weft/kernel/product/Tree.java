package weft.kernel.product;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.types.StructType;

/** A product: its tables, and the nodes in which they appear, the root first. */
record Tree(List<Table> tables, List<Node> nodes) implements Serializable {

  /** A table: the columns of it that the product needs, and the nodes that its rows are of. */
  record Table(StructType columns, List<Node> nodes) implements Serializable {}

  Node node(int number) {
    return nodes.get(number);
  }

  Node root() {
    return nodes.get(0);
  }

  /** How far the deepest node is from the root. */
  int depth() {
    return nodes.stream().mapToInt(node -> node.level).max().orElse(0);
  }
}
