package weft.kernel.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.column.ColumnWriteStore;
import org.apache.parquet.column.ColumnWriter;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.Platform;

/**
 * Writes values of one type from Spark's row memory to the columns that Parquet keeps them in: each
 * with the level at which it is repeated, and that to which its place is defined.
 */
abstract class ParquetColumns {
  /**
   * Writes the value at an ordinal, which is not null.
   *
   * @param from the row or array that holds it, whose memory is {@code base} from {@code offset} on
   * @param definition the level that a value which is there has
   */
  abstract void write(
      SpecializedGetters from,
      int ordinal,
      Object base,
      long offset,
      int repetition,
      int definition);

  /** Writes that there is no value, which the level tells of how far up. */
  abstract void writeNull(int repetition, int definition);

  final void writeNullable(
      SpecializedGetters from,
      int ordinal,
      Object base,
      long offset,
      int repetition,
      int definition) {
    if (from.isNullAt(ordinal)) {
      writeNull(repetition, definition);
    } else {
      write(from, ordinal, base, offset, repetition, definition + 1);
    }
  }

  /**
   * Whether rows of a type can be written this way: all may be null, nothing is a map, and decimals
   * are few digits.
   */
  static boolean take(DataType type) {
    if (type instanceof StructType struct) {
      for (StructField field : struct.fields()) {
        if (!field.nullable() || !take(field.dataType())) {
          return false;
        }
      }
      return struct.size() > 0;
    } else if (type instanceof ArrayType array) {
      return array.containsNull() && take(array.elementType());
    }
    return isText(type)
        || isDecimal(type)
        || isInt(type)
        || isLong(type)
        || type instanceof DoubleType
        || type instanceof FloatType
        || type instanceof BooleanType;
  }

  private static boolean isText(DataType type) {
    return type instanceof BinaryType || type instanceof StringType;
  }

  /** Whether it is a decimal that a row and Parquet have as a whole number. */
  private static boolean isDecimal(DataType type) {
    return type instanceof DecimalType decimal
        && decimal.precision() <= Decimal.MAX_LONG_DIGITS();
  }

  private static boolean isInt(DataType type) {
    return type instanceof IntegerType
        || type instanceof DateType
        || type instanceof ShortType
        || type instanceof ByteType;
  }

  private static boolean isLong(DataType type) {
    return type instanceof LongType
        || type instanceof TimestampType
        || type instanceof TimestampNTZType;
  }

  /** The columns of whole rows in a store. */
  static RowColumns of(StructType rows, MessageType file, ColumnWriteStore store) {
    return new RowColumns(rows, file, new ColumnPlace(file, store, List.of(), 0));
  }

  /** Where in a file a type stands. */
  private record ColumnPlace(
      MessageType file, ColumnWriteStore store, List<String> path, int repetition) {

    ColumnPlace below(Type type, int repeats) {
      List<String> names = new ArrayList<>(path);
      names.add(type.getName());
      return new ColumnPlace(file, store, names, repetition + repeats);
    }

    ColumnWriter writer() {
      return store.getColumnWriter(file.getColumnDescription(path.toArray(new String[0])));
    }
  }

  private static ParquetColumns make(DataType type, Type written, ColumnPlace place) {
    if (type instanceof StructType struct) {
      return new RowColumns(struct, written.asGroupType(), place);
    } else if (type instanceof ArrayType array) {
      return new ListColumns(array, written.asGroupType(), place);
    } else if (isText(type)) {
      return new TextColumn(place.writer());
    } else if (type instanceof DecimalType decimal) {
      return decimal.precision() <= Decimal.MAX_INT_DIGITS()
          ? new ShortDecimalColumn(place.writer())
          : new LongColumn(place.writer());
    } else if (type instanceof ShortType || type instanceof ByteType) {
      return new SmallColumn(place.writer(), type instanceof ByteType);
    } else if (isInt(type)) {
      return new IntColumn(place.writer());
    } else if (isLong(type)) {
      return new LongColumn(place.writer());
    } else if (type instanceof BooleanType) {
      return new TruthColumn(place.writer());
    } else if (type instanceof FloatType) {
      return new FloatColumn(place.writer());
    }
    return new DoubleColumn(place.writer());
  }

  /** A struct; also the columns of a row. */
  static final class RowColumns extends ParquetColumns {
    private final ParquetColumns[] fields;
    private final UnsafeRow nested;

    private RowColumns(StructType type, GroupType written, ColumnPlace place) {
      fields = new ParquetColumns[type.size()];
      nested = new UnsafeRow(fields.length);
      for (int at = 0; at < fields.length; at++) {
        Type field = written.getType(at);
        fields[at] = make(type.fields()[at].dataType(), field, place.below(field, 0));
      }
    }

    void writeRow(UnsafeRow row, int repetition, int definition) {
      Object base = row.getBaseObject();
      long offset = row.getBaseOffset();
      for (int at = 0; at < fields.length; at++) {
        fields[at].writeNullable(row, at, base, offset, repetition, definition);
      }
    }

    @Override
    void write(SpecializedGetters from, int at, Object base, long offset, int r, int d) {
      long place = from.getLong(at);
      nested.pointTo(base, offset + (int) (place >>> 32), (int) place);
      writeRow(nested, r, d);
    }

    @Override
    void writeNull(int repetition, int definition) {
      for (ParquetColumns field : fields) {
        field.writeNull(repetition, definition);
      }
    }
  }

  /** An array, which is a group that is repeated inside one that may be null. */
  private static final class ListColumns extends ParquetColumns {
    private final ParquetColumns element;
    private final int repeated;
    private final UnsafeArrayData nested = new UnsafeArrayData();

    ListColumns(ArrayType type, GroupType written, ColumnPlace place) {
      GroupType list = written.getType(0).asGroupType();
      ColumnPlace inside = place.below(list, 1);
      repeated = inside.repetition();
      element = make(type.elementType(), list.getType(0), inside.below(list.getType(0), 0));
    }

    @Override
    void write(SpecializedGetters from, int at, Object base, long offset, int r, int d) {
      long place = from.getLong(at);
      nested.pointTo(base, offset + (int) (place >>> 32), (int) place);
      int count = nested.numElements();
      if (count == 0) {
        element.writeNull(r, d);
      }
      long start = nested.getBaseOffset();
      for (int each = 0; each < count; each++) {
        element.writeNullable(nested, each, base, start, each == 0 ? r : repeated, d + 1);
      }
    }

    @Override
    void writeNull(int repetition, int definition) {
      element.writeNull(repetition, definition);
    }
  }

  /** A value that is a column. */
  private abstract static class LeafColumn extends ParquetColumns {
    final ColumnWriter column;

    LeafColumn(ColumnWriter column) {
      this.column = column;
    }

    @Override
    final void writeNull(int repetition, int definition) {
      column.writeNull(repetition, definition);
    }
  }

  private static final class TextColumn extends LeafColumn {
    TextColumn(ColumnWriter column) {
      super(column);
    }

    @Override
    void write(SpecializedGetters from, int at, Object base, long offset, int r, int d) {
      long place = from.getLong(at);
      long start = offset + (int) (place >>> 32);
      int length = (int) place;
      if (base instanceof byte[] array) {
        int first = (int) (start - Platform.BYTE_ARRAY_OFFSET);
        column.write(Binary.fromReusedByteArray(array, first, length), r, d);
      } else {
        byte[] copied = new byte[length];
        Platform.copyMemory(base, start, copied, Platform.BYTE_ARRAY_OFFSET, length);
        column.write(Binary.fromConstantByteArray(copied), r, d);
      }
    }
  }

  private static final class SmallColumn extends LeafColumn {
    private final boolean isByte;

    SmallColumn(ColumnWriter column, boolean isByte) {
      super(column);
      this.isByte = isByte;
    }

    @Override
    void write(SpecializedGetters from, int at, Object base, long offset, int r, int d) {
      column.write(isByte ? from.getByte(at) : (int) from.getShort(at), r, d);
    }
  }

  private static final class IntColumn extends LeafColumn {
    IntColumn(ColumnWriter column) {
      super(column);
    }

    @Override
    void write(SpecializedGetters from, int at, Object base, long offset, int r, int d) {
      column.write(from.getInt(at), r, d);
    }
  }

  /** A decimal that Parquet has in four bytes, and a row in eight. */
  private static final class ShortDecimalColumn extends LeafColumn {
    ShortDecimalColumn(ColumnWriter column) {
      super(column);
    }

    @Override
    void write(SpecializedGetters from, int at, Object base, long offset, int r, int d) {
      column.write((int) from.getLong(at), r, d);
    }
  }

  private static final class LongColumn extends LeafColumn {
    LongColumn(ColumnWriter column) {
      super(column);
    }

    @Override
    void write(SpecializedGetters from, int at, Object base, long offset, int r, int d) {
      column.write(from.getLong(at), r, d);
    }
  }

  private static final class TruthColumn extends LeafColumn {
    TruthColumn(ColumnWriter column) {
      super(column);
    }

    @Override
    void write(SpecializedGetters from, int at, Object base, long offset, int r, int d) {
      column.write(from.getBoolean(at), r, d);
    }
  }

  private static final class FloatColumn extends LeafColumn {
    FloatColumn(ColumnWriter column) {
      super(column);
    }

    @Override
    void write(SpecializedGetters from, int at, Object base, long offset, int r, int d) {
      column.write(from.getFloat(at), r, d);
    }
  }

  private static final class DoubleColumn extends LeafColumn {
    DoubleColumn(ColumnWriter column) {
      super(column);
    }

    @Override
    void write(SpecializedGetters from, int at, Object base, long offset, int r, int d) {
      column.write(from.getDouble(at), r, d);
    }
  }
}
