package weft.kernel.gate;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.expressions.UnsafeMapData;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** How many bytes a value takes, about, when it is laid out in a row. */
public final class Sizes {
  /** What an element of an array, or a part of a struct, takes beside what it holds. */
  public static final long SLOT = 16;

  private Sizes() {}

  /** Whether values of a type differ in size. */
  public static boolean varies(DataType type) {
    return type instanceof StringType
        || type instanceof BinaryType
        || type instanceof ArrayType
        || type instanceof MapType
        || type instanceof StructType;
  }

  /** The bytes of a value of this type; null takes none. */
  public static long of(Object value, DataType type) {
    if (value == null) {
      return 0;
    }
    if (value instanceof UTF8String text) {
      return text.numBytes();
    }
    if (value instanceof byte[] bytes) {
      return bytes.length;
    }
    if (type instanceof ArrayType array) {
      return ofArray((ArrayData) value, array.elementType());
    }
    if (type instanceof MapType map) {
      return ofMap((MapData) value, map);
    }
    return type instanceof StructType struct ? ofStruct((InternalRow) value, struct) : SLOT;
  }

  private static long ofArray(ArrayData array, DataType element) {
    if (array instanceof UnsafeArrayData unsafe) {
      return unsafe.getSizeInBytes();
    }
    int count = array.numElements();
    long size = count * SLOT;
    if (varies(element)) {
      for (int at = 0; at < count; at++) {
        size += array.isNullAt(at) ? 0 : of(array.get(at, element), element);
      }
    }
    return size;
  }

  private static long ofMap(MapData map, MapType type) {
    if (map instanceof UnsafeMapData unsafe) {
      return unsafe.getSizeInBytes();
    }
    return ofArray(map.keyArray(), type.keyType()) + ofArray(map.valueArray(), type.valueType());
  }

  private static long ofStruct(InternalRow row, StructType type) {
    if (row instanceof UnsafeRow unsafe) {
      return unsafe.getSizeInBytes();
    }
    StructField[] fields = type.fields();
    long size = fields.length * SLOT;
    for (int at = 0; at < fields.length; at++) {
      DataType part = fields[at].dataType();
      size += varies(part) && !row.isNullAt(at) ? of(row.get(at, part), part) : 0;
    }
    return size;
  }

  /**
   * The bytes of a value of this type with nothing in it: what a parser makes of an empty object.
   */
  static long empty(DataType type) {
    return type instanceof StructType struct ? struct.length() * SLOT : SLOT;
  }

  /**
   * The bytes that an element of any array or map in this type takes when it is empty; 0 when there
   * is none.
   */
  static long widestElement(DataType type) {
    if (type instanceof ArrayType array) {
      return Math.max(SLOT + empty(array.elementType()), widestElement(array.elementType()));
    }
    if (type instanceof MapType map) {
      return Math.max(2 * SLOT + empty(map.valueType()), widestElement(map.valueType()));
    }
    long widest = 0;
    if (type instanceof StructType struct) {
      for (StructField field : struct.fields()) {
        widest = Math.max(widest, widestElement(field.dataType()));
      }
    }
    return widest;
  }
}
