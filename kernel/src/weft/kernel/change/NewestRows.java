package weft.kernel.change;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.hash.RecordHash;
import weft.kernel.spark.RowWriter;

/**
 * Of the changes of a table, those that decide what its rows are: of each key the newest, before it
 * those that have the values which it left out, and what empties the table.
 *
 * <p>In: the rows of a changing stream, in which those with the same key follow one another. Out:
 * some of them, and a row that says how many were passed over ({@link TableRows#PASSED}).
 */
public final class NewestRows implements FlatMapFunction<Iterator<InternalRow>, InternalRow> {
  private static final long serialVersionUID = 1;

  private final StructType schema;
  private final int[] key;
  private final int change;
  private final StructType changeType;
  private final int weft;
  private final StructType weftType;

  /**
   * @param schema the columns of the stream
   * @param key the names of those that are its key
   */
  public NewestRows(StructType schema, List<String> key) {
    this.schema = schema;
    this.key = key.stream().mapToInt(schema::fieldIndex).toArray();
    this.change = schema.fieldIndex(Attach.CHANGE);
    this.changeType = (StructType) schema.fields()[change].dataType();
    this.weft = schema.fieldIndex(RecordHash.WEFT);
    this.weftType = (StructType) schema.fields()[weft].dataType();
  }

  @Override
  public Iterator<InternalRow> call(Iterator<InternalRow> rows) {
    return new Walk(rows);
  }

  private InternalRow changeOf(InternalRow row) {
    return row.getStruct(change, changeType.size());
  }

  private UTF8String text(InternalRow change, String field) {
    int at = changeType.fieldIndex(field);
    return change.isNullAt(at) ? null : change.getUTF8String(at);
  }

  private boolean isSweep(InternalRow row) {
    InternalRow said = changeOf(row);
    return TableRows.empties(text(said, "op"))
        || TableRows.endsSnapshot(text(said, "position"), text(said, "snapshot"));
  }

  private Version version(InternalRow row) {
    InternalRow said = changeOf(row);
    int kept = changeType.fieldIndex("kept");
    boolean isWhole = said.isNullAt(kept) || said.getArray(kept).numElements() == 0;
    UTF8String position = text(said, "position");
    InternalRow system = row.getStruct(weft, weftType.size());
    int id = weftType.fieldIndex("id");
    Changed when =
        Changed.of(
            new byte[0],
            position == null ? null : position.getBytes(),
            system.getLong(weftType.fieldIndex("knot")),
            TableRows.offset(system.isNullAt(id) ? null : system.getUTF8String(id)),
            null,
            Changed.NOTHING_KEPT);
    return new Version(row, when, isWhole);
  }

  /** A change of a row; one is whole that has left out no values. */
  private record Version(InternalRow row, Changed when, boolean isWhole) {
    boolean isBefore(Version other) {
      return when.isBefore(other.when);
    }
  }

  private final class Walk implements Iterator<InternalRow> {
    private final Iterator<InternalRow> rows;
    private final RowWriter keyOf;
    private final Deque<InternalRow> ready = new ArrayDeque<>();

    /** The versions of the key in hand that count, from the oldest to the newest. */
    private final List<Version> versions = new ArrayList<>();

    private UnsafeRow inHand;
    private long passed;
    private boolean isOver;

    Walk(Iterator<InternalRow> rows) {
      this.rows = rows;
      StructType type = new StructType();
      for (int at : key) {
        StructField field = schema.fields()[at];
        type = type.add(field);
      }
      this.keyOf = RowWriter.picking(type, key);
    }

    @Override
    public boolean hasNext() {
      while (ready.isEmpty() && !isOver) {
        if (rows.hasNext()) {
          take(rows.next());
        } else {
          release();
          if (passed > 0) {
            ready.add(told());
          }
          isOver = true;
        }
      }
      return !ready.isEmpty();
    }

    @Override
    public InternalRow next() {
      return ready.remove();
    }

    private void take(InternalRow row) {
      if (isSweep(row)) {
        ready.add(row.copy());
        return;
      }
      UnsafeRow found = keyOf.write(row);
      if (!found.equals(inHand)) {
        release();
        inHand = found.copy();
      }
      add(version(row));
    }

    private void add(Version version) {
      int at = versions.size();
      while (at > 0 && version.isBefore(versions.get(at - 1))) {
        at--;
      }
      if (at == 0 && !versions.isEmpty() && versions.get(0).isWhole()) {
        passed++;
        return;
      }
      versions.add(at, new Version(version.row().copy(), version.when(), version.isWhole()));
      if (version.isWhole()) {
        passed += at;
        versions.subList(0, at).clear();
      }
    }

    private void release() {
      versions.forEach(version -> ready.add(version.row()));
      versions.clear();
    }

    private InternalRow told() {
      Object[] said = new Object[changeType.size()];
      said[changeType.fieldIndex("op")] = TableRows.PASSED;
      said[changeType.fieldIndex("position")] = UTF8String.fromString(Long.toString(passed));
      Object[] values = new Object[schema.size()];
      values[change] = new GenericInternalRow(said);
      return new GenericInternalRow(values);
    }
  }
}
