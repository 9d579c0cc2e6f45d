package weft.kernel.product;

import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import weft.kernel.bytes.Sha256;
import weft.kernel.bytes.Slice;
import weft.kernel.change.ColumnReader;
import weft.kernel.spark.NestedBytes;
import weft.kernel.spark.RowBytes;
import weft.kernel.spark.RowWriter;

/** Puts the rows of one node together with their parts, and the rows under one link into a part. */
final class Document {
  private static final int HASH_BYTES = 16;

  private final MessageDigest sha256 = Sha256.digest();
  private final Tree tree;
  private final Node node;
  private final StructType ownType;
  private final Comparator<NodeRow> order;

  /** Whether the document of a row has its own values and no others. */
  private final boolean isOwn;

  /** Writes the document of a row, or the total of all. */
  private final RowWriter writer;

  /** Whether what was made of a row holds until that changes: not of what is looked up. */
  private final boolean isKept;

  private final List<Cell> cells = new ArrayList<>();

  Document(Tree tree, Node node) {
    this.tree = tree;
    this.node = node;
    this.ownType = node.view().ownType();
    this.order = node.totals() == null ? byOwn(node.view().order()) : null;
    this.isOwn = node.outputs().stream().allMatch(output -> output.part() < 0);
    this.writer = writer(node, isOwn);
    this.isKept = !node.isRoot() && !node.looksUpAny();
    node.outputs().forEach(output -> cells.add(cell(output)));
  }

  private static RowWriter writer(Node node, boolean isOwn) {
    if (node.totals() != null) {
      return RowWriter.of(new DataType[] {node.type()});
    }
    int[] places = node.outputs().stream().mapToInt(Node.Output::own).toArray();
    return isOwn ? RowWriter.picking(node.type(), places) : RowWriter.of(node.type());
  }

  /** What gives a field of the document its value. */
  private interface Cell {
    Object value(UnsafeRow own, byte[][] parts);
  }

  private Cell cell(Node.Output output) {
    if (output.part() < 0) {
      ColumnReader own = new ColumnReader(output.own(), ownType.fields()[output.own()].dataType());
      return (row, parts) -> own.read(row);
    }
    Node child = tree.node(node.parts()[output.part()]);
    ColumnReader whole = new ColumnReader(0, child.partType());
    if (output.field() < 0) {
      return (row, parts) -> partValue(child, whole, parts[output.part()]);
    }
    int at = output.field();
    ColumnReader field = new ColumnReader(at, child.type().fields()[at].dataType());
    return (row, parts) -> {
      Object read = partValue(child, whole, parts[output.part()]);
      return read == null ? null : field.read((InternalRow) read);
    };
  }

  /** Compares rows by their own values. */
  private Comparator<NodeRow> byOwn(Comparator<InternalRow> values) {
    UnsafeRow left = new UnsafeRow(ownType.size());
    UnsafeRow right = new UnsafeRow(ownType.size());
    return (one, other) -> {
      RowBytes.point(left, Slice.of(one.own()));
      RowBytes.point(right, Slice.of(other.own()));
      return values.compare(left, right);
    };
  }

  /** What the parents of these rows get, as bytes of a row with one column; null for nothing. */
  byte[] value(NodeRows rows, Shelves shelves) {
    if (node.totals() != null) {
      return total(rows, shelves);
    }
    int most = node.isMany() ? Math.min(rows.size(), node.limit()) : 1;
    List<byte[]> documents = new ArrayList<>(most);
    for (NodeRow row : rows.sorted(order)) {
      if (documents.size() == most) {
        break;
      }
      byte[] document = isKept ? row.document() : null;
      if (document == null) {
        document = document(row, shelves);
      }
      if (document != null) {
        documents.add(document);
      }
    }
    if (documents.isEmpty()) {
      return null;
    }
    return node.isMany() ? NestedBytes.ofList(documents) : NestedBytes.ofRow(documents.get(0));
  }

  /** The document of a row; null where a part is missing that it must have. */
  private byte[] document(NodeRow row, Shelves shelves) {
    byte[][] parts = shelves.parts(node, row);
    if (!isComplete(parts)) {
      return null;
    }
    UnsafeRow own = RowBytes.reading(row.own(), ownType.size());
    byte[] document = writer.toBytes(isOwn ? own : values(own, parts));
    if (isKept) {
      row.keepDocument(document);
    }
    return document;
  }

  private InternalRow values(UnsafeRow own, byte[][] parts) {
    Object[] values = new Object[cells.size()];
    for (int at = 0; at < values.length; at++) {
      values[at] = cells.get(at).value(own, parts);
    }
    return new GenericInternalRow(values);
  }

  /** What such a value is known again by; null for nothing. */
  byte[] hash(byte[] value) {
    return value == null ? null : Arrays.copyOf(sha256.digest(value), HASH_BYTES);
  }

  private byte[] total(NodeRows rows, Shelves shelves) {
    Totals.Sum sum = node.totals().new Sum();
    boolean isAny = false;
    for (NodeRow row : rows.all()) {
      if (isComplete(shelves.parts(node, row))) {
        isAny = true;
        sum.add(RowBytes.reading(row.own(), ownType.size()), row.key());
      }
    }
    return isAny
        ? writer.toBytes(new GenericInternalRow(new Object[] {sum.result()}))
        : null;
  }

  private boolean isComplete(byte[][] parts) {
    for (int at = 0; at < parts.length; at++) {
      if (parts[at] == null && tree.node(node.parts()[at]).isRequired()) {
        return false;
      }
    }
    return true;
  }

  private static Object partValue(Node child, ColumnReader reader, byte[] value) {
    return value == null ? missing(child) : reader.read(RowBytes.reading(value, 1));
  }

  /** The part of a parent that has no rows there. */
  private static Object missing(Node child) {
    if (child.totals() != null) {
      return child.totals().new Sum().result();
    }
    return child.isMany() ? new GenericArrayData(new Object[0]) : null;
  }
}
