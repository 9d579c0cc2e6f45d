package weft.kernel.product;

import java.io.Serializable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.StructType;
import weft.kernel.spark.RowWriter;

/**
 * A product: its tables, and the nodes in which they appear, the root first.
 *
 * <p>What writes rows is made once and kept here, for one thread at a time: {@link TreeHandle}.
 */
final class Tree implements Serializable {
  private static final long serialVersionUID = 1;

  private final List<Table> tables;
  private final List<Node> nodes;
  private final int depth;

  private transient Map<Integer, RowWriter> rowWriters;
  private transient Map<Integer, Document> documents;
  private transient RowWriter outlet;

  /** A table: the columns of it that the product needs, and the nodes that its rows are of. */
  record Table(StructType columns, List<Node> nodes) implements Serializable {}

  Tree(List<Table> tables, List<Node> nodes) {
    this.tables = List.copyOf(tables);
    this.nodes = List.copyOf(nodes);
    this.depth = nodes.stream().mapToInt(node -> node.level).max().orElse(0);
  }

  List<Table> tables() {
    return tables;
  }

  Node node(int number) {
    return nodes.get(number);
  }

  Node root() {
    return nodes.get(0);
  }

  /** How far the deepest node is from the root. */
  int depth() {
    return depth;
  }

  /** Writes rows of a table. */
  RowWriter rowWriter(int table) {
    rowWriters = rowWriters == null ? new HashMap<>() : rowWriters;
    return rowWriters.computeIfAbsent(table, at -> RowWriter.of(tables.get(at).columns()));
  }

  /** Puts documents of a node together. */
  Document document(int node) {
    documents = documents == null ? new HashMap<>() : documents;
    return documents.computeIfAbsent(node, at -> new Document(this, nodes.get(at)));
  }

  /** Writes what goes out. */
  RowWriter outlet() {
    outlet = outlet == null ? RowWriter.of(Outlet.type(root())) : outlet;
    return outlet;
  }
}
