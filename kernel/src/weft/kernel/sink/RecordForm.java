package weft.kernel.sink;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.ByteSink;

/** The message that a row of one form becomes: read a row, then ask for the parts of it. */
final class RecordForm {
  private static final String WEFT = "_weft";
  private static final String CHANGE = "_change";
  private static final UTF8String GONE = UTF8String.fromString("d");
  private static final UTF8String EMPTIED = UTF8String.fromString("t");
  private static final byte[] NULL = JsonText.ascii("null");

  private final byte[][] names;
  private final int[] ordinals;
  private final JsonForm[] forms;
  private final KeyPart[] key;
  private final byte[][] keyNames;
  private final StructType type;
  private final Inside id;
  private final Inside knot;
  private final Inside change;
  private final ByteSink buffer = new ByteSink();
  private InternalRow row;
  private UTF8String op;

  /** What of rows is told: columns in their order, and those of the key, with dots into structs. */
  record Wanted(ArrayList<String> columns, ArrayList<String> key) implements Serializable {
    private static final long serialVersionUID = 1L;

    /** Of the columns of a file those that are needed, in the file's order. */
    StructType of(StructType file) {
      List<StructField> found = new ArrayList<>();
      for (StructField field : file.fields()) {
        if (field.name().equals(WEFT)) {
          found.add(part(field, List.of("id", "knot")));
        } else if (field.name().equals(CHANGE) && columns.contains(CHANGE)) {
          found.add(part(field, List.of("op")));
        } else if (columns.contains(field.name())) {
          found.add(field);
        }
      }
      return new StructType(found.toArray(StructField[]::new));
    }

    private static StructField part(StructField field, List<String> names) {
      StructField[] kept =
          Arrays.stream(((StructType) field.dataType()).fields())
              .filter(each -> names.contains(each.name()))
              .toArray(StructField[]::new);
      return new StructField(
          field.name(), new StructType(kept), field.nullable(), field.metadata());
    }
  }

  /** A field of a struct that is a column. */
  private record Inside(int column, int size, int field) {
    static Inside of(StructType type, String column, String field) {
      int ordinal = type.fieldIndex(column);
      StructType struct = (StructType) type.fields()[ordinal].dataType();
      return new Inside(ordinal, struct.length(), struct.fieldIndex(field));
    }

    InternalRow struct(InternalRow row) {
      return row.getStruct(column, size);
    }
  }

  /** One column of the key: the way to it through structs, and how it is written. */
  private record KeyPart(int[] path, int[] sizes, JsonForm form) {}

  RecordForm(StructType type, Wanted wanted) {
    this.type = type;
    List<String> told = wanted.columns().stream().filter(name -> !name.equals(CHANGE)).toList();
    names = new byte[told.size()][];
    ordinals = new int[told.size()];
    forms = new JsonForm[told.size()];
    for (int i = 0; i < names.length; i++) {
      names[i] = JsonText.quoted(told.get(i));
      ordinals[i] = ordinal(type, told.get(i));
      forms[i] = ordinals[i] < 0 ? null : JsonForm.of(type.fields()[ordinals[i]].dataType());
    }
    key = wanted.key().stream().map(this::keyPart).toArray(KeyPart[]::new);
    keyNames = wanted.key().stream().map(JsonText::quoted).toArray(byte[][]::new);
    id = Inside.of(type, WEFT, "id");
    knot = Inside.of(type, WEFT, "knot");
    boolean isChanging = wanted.columns().contains(CHANGE) && ordinal(type, CHANGE) >= 0;
    change = isChanging ? Inside.of(type, CHANGE, "op") : null;
  }

  private static int ordinal(StructType type, String name) {
    return List.of(type.fieldNames()).indexOf(name);
  }

  private KeyPart keyPart(String name) {
    List<String> steps =
        ordinal(type, name) >= 0 ? List.of(name) : List.of(name.split("\\.", -1));
    int[] path = new int[steps.size()];
    int[] sizes = new int[steps.size()];
    StructType inside = type;
    for (int i = 0; i < path.length; i++) {
      path[i] = ordinal(inside, steps.get(i));
      sizes[i] = inside.length();
      if (path[i] < 0) {
        return null; // a rule has dropped the column: it is null
      }
      if (i + 1 < path.length) {
        inside = (StructType) inside.fields()[path[i]].dataType();
      }
    }
    return new KeyPart(
        path, sizes, JsonForm.of(inside.fields()[path[path.length - 1]].dataType()));
  }

  /** Points at a row; false when there is nothing to tell of it. */
  boolean read(InternalRow next) {
    row = next;
    boolean isChange = change != null && !row.isNullAt(change.column);
    op = isChange ? change.struct(row).getUTF8String(change.field) : null;
    return !EMPTIED.equals(op); // of a table that was emptied nobody knows the keys here
  }

  /** The row's id, which is its own for as long as the stream lives. */
  byte[] id() {
    return id.struct(row).getUTF8String(id.field).getBytes();
  }

  long knot() {
    return knot.struct(row).getLong(knot.field);
  }

  /** The record as JSON, or null when its key has no row any longer. */
  byte[] value() {
    if (GONE.equals(op)) {
      return null;
    }
    buffer.truncate(0);
    buffer.putByte('{');
    for (int i = 0; i < forms.length; i++) {
      if (i > 0) {
        buffer.putByte(',');
      }
      JsonText.put(buffer, names[i]);
      buffer.putByte(':');
      if (forms[i] == null) {
        JsonText.put(buffer, NULL);
      } else {
        forms[i].writeOrNull(buffer, row, ordinals[i]);
      }
    }
    buffer.putByte('}');
    return Arrays.copyOf(buffer.bytes(), buffer.size());
  }

  /** A single column as it is if it is text, else as JSON; several as an object; null of none. */
  byte[] key() {
    if (key.length == 0) {
      return null;
    }
    buffer.truncate(0);
    if (key.length == 1) {
      putPart(key[0], true);
    } else {
      for (int i = 0; i < key.length; i++) {
        buffer.putByte(i == 0 ? '{' : ',');
        JsonText.put(buffer, keyNames[i]);
        buffer.putByte(':');
        putPart(key[i], false);
      }
      buffer.putByte('}');
    }
    return Arrays.copyOf(buffer.bytes(), buffer.size());
  }

  private void putPart(KeyPart part, boolean isWhole) {
    SpecializedGetters inside = row;
    for (int i = 0; part != null && inside != null && i + 1 < part.path.length; i++) {
      inside =
          inside.isNullAt(part.path[i])
              ? null
              : inside.getStruct(part.path[i], part.sizes[i + 1]);
    }
    int last = part == null ? 0 : part.path[part.path.length - 1];
    if (part == null || inside == null || inside.isNullAt(last)) {
      JsonText.put(buffer, NULL);
    } else if (isWhole) {
      part.form.writeKey(buffer, inside, last);
    } else {
      part.form.write(buffer, inside, last);
    }
  }
}
