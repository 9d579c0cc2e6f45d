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
import weft.kernel.bytes.Blob;
import weft.kernel.bytes.Sha256;
import weft.kernel.bytes.Slice;
import weft.kernel.change.ColumnReader;
import weft.kernel.change.Keyed;
import weft.kernel.change.KeyedValues;
import weft.kernel.spark.RowBytes;
import weft.kernel.spark.RowWriter;

/** Puts the rows of one node together with their parts, and the rows under one link into a part. */
final class Document {
  private static final int HASH_BYTES = 16;

  private final MessageDigest sha256 = Sha256.digest();
  private final Tree tree;
  private final Node node;
  private final StructType ownType;
  private final Comparator<Keyed> order;
  private final RowWriter part;
  private final List<Cell> cells = new ArrayList<>();

  Document(Tree tree, Node node) {
    this.tree = tree;
    this.node = node;
    this.ownType = node.view().ownType();
    this.order = node.totals() == null ? byOwn(node.view().order()) : null;
    this.part = RowWriter.of(new DataType[] {node.partType()});
    for (Node.Output output : node.outputs()) {
      cells.add(cell(output));
    }
  }

  /** What gives a field of the document its value. */
  private interface Cell {
    Object value(Found found);
  }

  private Cell cell(Node.Output output) {
    if (output.part() < 0) {
      ColumnReader own = new ColumnReader(output.own(), ownType.fields()[output.own()].dataType());
      return found -> own.read(found.own());
    }
    Node child = tree.node(node.parts()[output.part()]);
    ColumnReader whole = new ColumnReader(0, child.partType());
    if (output.field() < 0) {
      return found -> partValue(child, whole, found.parts()[output.part()]);
    }
    int at = output.field();
    ColumnReader field = new ColumnReader(at, child.type().fields()[at].dataType());
    return found -> {
      Object read = partValue(child, whole, found.parts()[output.part()]);
      return read == null ? null : field.read((InternalRow) read);
    };
  }

  /** Compares entries by their own values. */
  private Comparator<Keyed> byOwn(Comparator<InternalRow> values) {
    UnsafeRow left = new UnsafeRow(ownType.size());
    UnsafeRow right = new UnsafeRow(ownType.size());
    return (one, other) -> {
      RowBytes.point(left, own(one.value()));
      RowBytes.point(right, own(other.value()));
      return values.compare(left, right);
    };
  }

  /** A row of the node as it is kept: its own values, then those of its parts. */
  static byte[] entry(Slice own, Slice[] parts) {
    int size = Integer.BYTES * (1 + parts.length) + own.length();
    for (Slice each : parts) {
      size += each == null ? 0 : each.length();
    }
    Blob out = Blob.ofSize(size);
    out.putSlice(own);
    for (Slice each : parts) {
      out.putSlice(each);
    }
    return out.array();
  }

  /** The values of the parts of a row that is kept; none yet for a new row. */
  Slice[] parts(Slice entry) {
    Slice[] parts = new Slice[node.parts().length];
    if (entry != null && parts.length > 0) {
      Blob in = Blob.reading(entry.array());
      in.seek(entry.from());
      in.getSlice();
      for (int at = 0; at < parts.length; at++) {
        parts[at] = in.getSlice();
      }
    }
    return parts;
  }

  static Slice own(Slice entry) {
    Blob in = Blob.reading(entry.array());
    in.seek(entry.from());
    return in.getSlice();
  }

  private record Found(InternalRow own, Slice[] parts) {}

  /** What the parents of these rows get, as bytes of a row with one column; null for nothing. */
  byte[] value(KeyedValues rows) {
    if (node.totals() != null) {
      return total(rows);
    }
    int most = node.isMany() ? Math.min(rows.size(), node.limit()) : 1;
    Object[] documents = new Object[most];
    int count = 0;
    for (Keyed entry : rows.sorted(order)) {
      if (count == most) {
        break;
      }
      Slice[] parts = parts(entry.value());
      if (isComplete(parts)) {
        documents[count++] = document(found(entry.value(), parts));
      }
    }
    if (count == 0) {
      return null;
    }
    return write(
        node.isMany() ? new GenericArrayData(Arrays.copyOf(documents, count)) : documents[0]);
  }

  /** What such a value is known again by; null for nothing. */
  byte[] hash(byte[] value) {
    return value == null ? null : Arrays.copyOf(sha256.digest(value), HASH_BYTES);
  }

  private Found found(Slice entry, Slice[] parts) {
    return new Found(RowBytes.reading(own(entry), ownType.size()), parts);
  }

  private byte[] total(KeyedValues rows) {
    Totals.Sum sum = node.totals().new Sum();
    boolean[] isAny = new boolean[1];
    rows.forEach(
        (key, entry) -> {
          if (isComplete(parts(entry))) {
            isAny[0] = true;
            sum.add(RowBytes.reading(own(entry), ownType.size()), key.toArray());
          }
        });
    return isAny[0] ? write(sum.result()) : null;
  }

  private byte[] write(Object value) {
    return part.toBytes(new GenericInternalRow(new Object[] {value}));
  }

  private boolean isComplete(Slice[] parts) {
    for (int at = 0; at < parts.length; at++) {
      if (parts[at] == null && tree.node(node.parts()[at]).isRequired()) {
        return false;
      }
    }
    return true;
  }

  private InternalRow document(Found found) {
    Object[] values = new Object[node.outputs().size()];
    for (int at = 0; at < values.length; at++) {
      values[at] = cells.get(at).value(found);
    }
    return new GenericInternalRow(values);
  }

  private static Object partValue(Node child, ColumnReader reader, Slice value) {
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
