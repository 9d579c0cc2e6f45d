package weft.kernel.product;

import java.io.Serializable;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import weft.kernel.spark.BoundColumns;
import weft.kernel.spark.RowOrder;
import weft.kernel.spark.RowWriter;

/**
 * A node of a product's tree: a table, in the part that it plays here.
 *
 * <p>Its columns are computed from a row of the table in one go, and stand behind each other:
 * whether the row is there at all, its link, its own values (those it is ordered by, then its
 * fields or the arguments of its aggregates), and for each part the link under which that is found.
 */
final class Node implements Serializable {
  private static final long serialVersionUID = 1;

  /** Before the values of `weft_try` come why there are none, and what was spent. */
  private static final int TRIED = 2;

  private static final int FILTER = 1;

  final int number;
  final int table;
  final int parent;
  final int place;
  final int level;
  final boolean isMany;
  final boolean isRequired;
  final int limit;
  final boolean[] isFalling;
  final List<Output> outputs;
  final Totals totals;
  final int[] parts;
  final StructType type;

  private final BoundColumns columns;
  private final int links;
  private final int own;
  private final int[] partLinks;

  private transient RowWriter linkOf;
  private transient RowWriter ownOf;
  private transient RowWriter[] partLinkOf;

  /** A field of the document of a node: one of its own values, a part, or a field of a part. */
  record Output(String name, int own, int part, int field) implements Serializable {}

  /**
   * @param parent the number of its parent, -1 for the root
   * @param place which of its parent's parts it is
   * @param links how many columns link it
   * @param own how many values of its own it keeps, those it is ordered by first
   * @param partLinks how many columns link each of its parts
   * @param type its document
   */
  Node(
      int number,
      int table,
      int parent,
      int place,
      int level,
      boolean isMany,
      boolean isRequired,
      int limit,
      boolean[] isFalling,
      List<Output> outputs,
      Totals totals,
      int[] parts,
      StructType type,
      BoundColumns columns,
      int links,
      int own,
      int[] partLinks) {
    this.number = number;
    this.table = table;
    this.parent = parent;
    this.place = place;
    this.level = level;
    this.isMany = isMany;
    this.isRequired = isRequired;
    this.limit = limit;
    this.isFalling = isFalling;
    this.outputs = List.copyOf(outputs);
    this.totals = totals;
    this.parts = parts;
    this.type = type;
    this.columns = columns;
    this.links = links;
    this.own = own;
    this.partLinks = partLinks;
  }

  boolean isRoot() {
    return parent < 0;
  }

  /** The type of what its parent gets. */
  DataType partType() {
    return isMany && totals == null ? new ArrayType(type, false) : type;
  }

  StructType ownType() {
    return slice(FILTER + links, own);
  }

  StructType linkType() {
    return slice(FILTER, links);
  }

  /** The order of own values, in which the rows of a part stand. */
  Comparator<InternalRow> order() {
    DataType[] types = new DataType[isFalling.length];
    for (int at = 0; at < types.length; at++) {
      types[at] = ownType().fields()[at].dataType();
    }
    return RowOrder.of(types, isFalling);
  }

  /** Where a row of the table stands here; null when it is not of it, or links to nobody. */
  Place place(InternalRow row) {
    if (row == null) {
      return null;
    }
    open();
    UnsafeRow tried = columns.of(row).getStruct(0, tried().size());
    if (!tried.isNullAt(0) || tried.isNullAt(TRIED) || !tried.getBoolean(TRIED)) {
      return null;
    }
    byte[] link = isRoot() ? linkOf.toBytes(tried) : known(linkOf, tried);
    if (link == null) {
      return null;
    }
    byte[] values = ownOf.toBytes(tried);
    byte[][] found = new byte[partLinks.length][];
    for (int part = 0; part < found.length; part++) {
      found[part] = known(partLinkOf[part], tried);
    }
    return new Place(link, values, found);
  }

  /** The bytes of a link; null equals nothing, so a link with one in it leads nowhere. */
  private static byte[] known(RowWriter writer, InternalRow row) {
    UnsafeRow link = writer.write(row);
    return link.anyNull() ? null : link.copy().getBytes();
  }

  private void open() {
    if (linkOf != null) {
      return;
    }
    linkOf = writer(FILTER, links);
    ownOf = writer(FILTER + links, own);
    partLinkOf = new RowWriter[partLinks.length];
    int from = FILTER + links + own;
    for (int part = 0; part < partLinks.length; part++) {
      partLinkOf[part] = writer(from, partLinks[part]);
      from += partLinks[part];
    }
  }

  private RowWriter writer(int from, int count) {
    int[] places = new int[count];
    for (int at = 0; at < count; at++) {
      places[at] = TRIED + from + at;
    }
    return RowWriter.picking(slice(from, count), places);
  }

  private StructType slice(int from, int count) {
    StructField[] fields = new StructField[count];
    System.arraycopy(tried().fields(), TRIED + from, fields, 0, count);
    return DataTypes.createStructType(fields);
  }

  private StructType tried() {
    return (StructType) columns.type().fields()[0].dataType();
  }
}
