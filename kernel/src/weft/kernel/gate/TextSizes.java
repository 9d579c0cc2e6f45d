package weft.kernel.gate;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** How many bytes a value can take as JSON, CSV or plain text, told without writing it. */
public final class TextSizes {
  /** A number, a moment, a boolean, and the signs around any value. */
  private static final long PLAIN = 48;

  private TextSizes() {}

  public static long of(Object value, DataType type) {
    if (value == null) {
      return PLAIN;
    }
    if (value instanceof UTF8String text) {
      return PLAIN + Texts.escaped(text);
    }
    if (value instanceof byte[] bytes) {
      return PLAIN + 2L * bytes.length;
    }
    if (type instanceof ArrayType array) {
      return ofArray((ArrayData) value, array.elementType());
    }
    if (type instanceof MapType map) {
      MapData data = (MapData) value;
      return ofArray(data.keyArray(), map.keyType()) + ofArray(data.valueArray(), map.valueType());
    }
    return type instanceof StructType struct ? ofStruct((InternalRow) value, struct) : PLAIN;
  }

  private static long ofArray(ArrayData array, DataType element) {
    long size = PLAIN;
    for (int at = 0; at < array.numElements() && size <= Budget.VALUE_BYTES; at++) {
      size += of(array.isNullAt(at) ? null : array.get(at, element), element);
    }
    return size;
  }

  private static long ofStruct(InternalRow row, StructType type) {
    long size = PLAIN;
    StructField[] fields = type.fields();
    for (int at = 0; at < fields.length; at++) {
      DataType part = fields[at].dataType();
      size +=
          6L * fields[at].name().length() + of(row.isNullAt(at) ? null : row.get(at, part), part);
    }
    return size;
  }
}
