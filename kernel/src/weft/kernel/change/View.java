package weft.kernel.change;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import weft.kernel.spark.BoundColumns;
import weft.kernel.spark.RowOrder;
import weft.kernel.spark.RowWriter;
import weft.kernel.spark.gate.Layers;
import weft.kernel.spark.gate.TryValue;
import weft.kernel.window.aggregate.Aggregate;
import weft.kernel.window.plan.BucketPlan;

/**
 * How a station sees the rows of a table.
 *
 * <p>Its columns are computed from a row of the table in one go, and stand behind each other:
 * whether the row is there at all, its link, its own values (those it is ordered by, then the
 * arguments of aggregates, then its fields), and for each part the link under which that is found.
 */
public final class View implements Serializable {
  private static final long serialVersionUID = 1;

  /** Before the values of `weft_try` come why there are none, and what was spent. */
  private static final int TRIED = 2;

  private static final int FILTER = 1;

  final int station;
  final int side;
  final int[] parts;
  final boolean tellsBefore;

  private final boolean takesNulls;
  private final boolean[] isFalling;
  private final List<Aggregate> aggregates;
  private final BoundColumns columns;
  private final int links;
  private final int own;
  private final int[] partLinks;

  private transient RowWriter linkOf;
  private transient RowWriter ownOf;
  private transient RowWriter[] partLinkOf;

  private View(
      int station,
      int[] parts,
      JsonNode spec,
      boolean[] isFalling,
      List<Aggregate> aggregates,
      BoundColumns columns,
      int own,
      int[] partLinks) {
    this.station = station;
    this.parts = parts;
    this.side = spec.path("side").asInt();
    this.tellsBefore = spec.path("tells_before").asBoolean();
    this.takesNulls = spec.path("takes_nulls").asBoolean();
    this.isFalling = isFalling;
    this.aggregates = List.copyOf(aggregates);
    this.columns = columns;
    this.links = spec.get("link").size();
    this.own = own;
    this.partLinks = partLinks;
  }

  /**
   * The view that is declared.
   *
   * @param station who sees the rows
   * @param parts the stations at which a row looks for its parts
   * @param form the columns of the table
   */
  public static View of(int station, int[] parts, JsonNode spec, Dataset<Row> form) {
    List<Column> columns = new ArrayList<>(List.of(functions.lit(0L)));
    columns.add(
        spec.hasNonNull("filter")
            ? Layers.column(form, spec.get("filter").textValue())
            : functions.lit(true));
    spec.get("link").forEach(each -> columns.add(key(form, each)));
    boolean[] isFalling = new boolean[spec.get("order").size()];
    for (int at = 0; at < isFalling.length; at++) {
      isFalling[at] = spec.get("order").get(at).get("falling").booleanValue();
      columns.add(Layers.column(form, spec.get("order").get(at).get("expr").textValue()));
    }
    List<Aggregate> aggregates = new ArrayList<>();
    for (JsonNode each : spec.get("aggregates")) {
      aggregates.add(BucketPlan.define(form, each, columns));
    }
    spec.get("fields").forEach(each -> columns.add(Layers.column(form, each.textValue())));
    int own = columns.size() - 1 - FILTER - spec.get("link").size();
    int[] partLinks = new int[spec.path("part_links").size()];
    for (int part = 0; part < partLinks.length; part++) {
      JsonNode links = spec.get("part_links").get(part);
      partLinks[part] = links.size();
      links.forEach(each -> columns.add(key(form, each)));
    }
    Column tried = functions.call_function(TryValue.NAME, columns.toArray(new Column[0]));
    BoundColumns bound = BoundColumns.of(form, List.of(tried.as("tried")));
    return new View(station, parts, spec, isFalling, aggregates, bound, own, partLinks);
  }

  private static Column key(Dataset<Row> form, JsonNode text) {
    return BucketPlan.key(form, Layers.column(form, text.textValue()));
  }

  /** How many own values rows are ordered by; the arguments of aggregates are behind these. */
  public int ordered() {
    return isFalling.length;
  }

  public List<Aggregate> aggregates() {
    return aggregates;
  }

  public StructType ownType() {
    return slice(FILTER + links, own);
  }

  public StructType linkType() {
    return slice(FILTER, links);
  }

  /** The order of own values. */
  public Comparator<InternalRow> order() {
    DataType[] types = new DataType[isFalling.length];
    for (int at = 0; at < types.length; at++) {
      types[at] = ownType().fields()[at].dataType();
    }
    return RowOrder.compiled(types, isFalling);
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
    byte[] link = takesNulls ? linkOf.toBytes(tried) : known(linkOf, tried);
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
