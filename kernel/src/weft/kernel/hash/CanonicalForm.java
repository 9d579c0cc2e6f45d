package weft.kernel.hash;

import java.math.BigInteger;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.expressions.UnsafeMapData;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.YearMonthIntervalType;
import org.apache.spark.unsafe.Platform;
import weft.kernel.bytes.ByteSink;

/**
 * Writes a value of one type from Spark's row memory in the canonical form that is hashed.
 *
 * <p>Numbers, dates and times are big-endian in their width, with one NaN; strings and bytes have
 * their length before them; decimals have their scale, their length and the shortest two's
 * complement. A struct is its non-null fields, each after its position counted from one, then a
 * zero: a column added later, null in old rows, does not change them. Array elements and map values
 * have a byte before them that says whether they are null; maps are sorted by key. Positions,
 * lengths and counts take one byte up to 127. Short matters: SHA-256 costs by blocks of 64 bytes.
 */
abstract class CanonicalForm {
  private static final int NULL = 0;
  private static final int PRESENT = 1;

  /**
   * Writes the non-null value at an ordinal.
   *
   * @param from the row or array that holds it, whose memory is {@code base} from {@code offset} on
   */
  abstract void write(ByteSink out, SpecializedGetters from, int ordinal, Object base, long offset);

  static CanonicalForm of(DataType type) {
    if (type instanceof StringType || type instanceof BinaryType) {
      return new Bytes();
    } else if (type instanceof LongType
        || type instanceof TimestampType
        || type instanceof TimestampNTZType
        || type instanceof TimeType
        || type instanceof DayTimeIntervalType) {
      return new EightBytes();
    } else if (type instanceof IntegerType
        || type instanceof DateType
        || type instanceof YearMonthIntervalType) {
      return new FourBytes();
    } else if (type instanceof DoubleType) {
      return new DoublePrecision();
    } else if (type instanceof FloatType) {
      return new SinglePrecision();
    } else if (type instanceof BooleanType) {
      return new Truth();
    } else if (type instanceof ShortType) {
      return new TwoBytes();
    } else if (type instanceof ByteType) {
      return new OneByte();
    } else if (type instanceof DecimalType decimal) {
      return decimal.precision() <= Decimal.MAX_LONG_DIGITS()
          ? new SmallDecimal(decimal.scale())
          : new LargeDecimal(decimal.scale());
    } else if (type instanceof StructType struct) {
      return new Fields(struct.fields());
    } else if (type instanceof ArrayType array) {
      return new Elements(of(array.elementType()));
    } else if (type instanceof MapType map) {
      return new Entries(of(map.keyType()), of(map.valueType()));
    }
    throw new IllegalArgumentException(
        "Values of type " + type.catalogString() + " cannot be hashed; cast them to another type.");
  }

  private static int start(long offsetAndSize) {
    return (int) (offsetAndSize >>> 32);
  }

  private static int length(long offsetAndSize) {
    return (int) offsetAndSize;
  }

  private static final class OneByte extends CanonicalForm {
    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal, Object base, long offset) {
      out.putByte(from.getByte(ordinal));
    }
  }

  private static final class Truth extends CanonicalForm {
    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal, Object base, long offset) {
      out.putByte(from.getBoolean(ordinal) ? 1 : 0);
    }
  }

  private static final class TwoBytes extends CanonicalForm {
    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal, Object base, long offset) {
      out.putShort(from.getShort(ordinal));
    }
  }

  private static final class FourBytes extends CanonicalForm {
    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal, Object base, long offset) {
      out.putInt(from.getInt(ordinal));
    }
  }

  private static final class EightBytes extends CanonicalForm {
    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal, Object base, long offset) {
      out.putLong(from.getLong(ordinal));
    }
  }

  private static final class SinglePrecision extends CanonicalForm {
    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal, Object base, long offset) {
      out.putInt(Float.floatToIntBits(from.getFloat(ordinal)));
    }
  }

  private static final class DoublePrecision extends CanonicalForm {
    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal, Object base, long offset) {
      out.putLong(Double.doubleToLongBits(from.getDouble(ordinal)));
    }
  }

  private static final class Bytes extends CanonicalForm {
    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal, Object base, long offset) {
      long place = from.getLong(ordinal);
      out.putCount(length(place));
      out.putMemory(base, offset + start(place), length(place));
    }
  }

  static final class SmallDecimal extends CanonicalForm {
    private final int scale;

    SmallDecimal(int scale) {
      this.scale = scale;
    }

    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal, Object base, long offset) {
      write(out, from.getLong(ordinal), scale);
    }

    static void write(ByteSink out, long unscaled, int scale) {
      long magnitude = unscaled < 0 ? ~unscaled : unscaled;
      int length = (64 - Long.numberOfLeadingZeros(magnitude)) / 8 + 1;
      out.putByte(scale);
      out.putByte(length);
      for (int shift = (length - 1) * 8; shift >= 0; shift -= 8) {
        out.putByte((int) (unscaled >>> shift));
      }
    }
  }

  private static final class LargeDecimal extends CanonicalForm {
    private final int scale;

    LargeDecimal(int scale) {
      this.scale = scale;
    }

    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal, Object base, long offset) {
      long place = from.getLong(ordinal);
      byte[] stored = new byte[length(place)];
      Platform.copyMemory(
          base, offset + start(place), stored, Platform.BYTE_ARRAY_OFFSET, stored.length);
      byte[] shortest = new BigInteger(stored).toByteArray();
      out.putByte(scale);
      out.putByte(shortest.length);
      out.putBytes(shortest, 0, shortest.length);
    }
  }

  /** A struct; also the columns of a row. */
  static final class Fields extends CanonicalForm {
    private final CanonicalForm[] forms;
    private final UnsafeRow nested;

    Fields(StructField[] fields) {
      this.forms =
          Arrays.stream(fields).map(field -> of(field.dataType())).toArray(CanonicalForm[]::new);
      this.nested = new UnsafeRow(fields.length);
    }

    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal, Object base, long offset) {
      long place = from.getLong(ordinal);
      nested.pointTo(base, offset + start(place), length(place));
      writeRow(out, nested, forms.length);
    }

    /** Writes the first fields of a row. */
    void writeRow(ByteSink out, UnsafeRow row, int count) {
      Object base = row.getBaseObject();
      long offset = row.getBaseOffset();
      for (int i = 0; i < count; i++) {
        if (!row.isNullAt(i)) {
          out.putCount(i + 1);
          forms[i].write(out, row, i, base, offset);
        }
      }
      out.putCount(0);
    }
  }

  private static final class Elements extends CanonicalForm {
    private final CanonicalForm element;
    private final UnsafeArrayData nested = new UnsafeArrayData();

    Elements(CanonicalForm element) {
      this.element = element;
    }

    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal, Object base, long offset) {
      long place = from.getLong(ordinal);
      nested.pointTo(base, offset + start(place), length(place));
      out.putCount(nested.numElements());
      for (int i = 0; i < nested.numElements(); i++) {
        writeNullable(out, element, nested, i);
      }
    }
  }

  private static void writeNullable(ByteSink out, CanonicalForm form, UnsafeArrayData from, int i) {
    if (from.isNullAt(i)) {
      out.putByte(NULL);
    } else {
      out.putByte(PRESENT);
      form.write(out, from, i, from.getBaseObject(), from.getBaseOffset());
    }
  }

  private static final class Entries extends CanonicalForm {
    private final CanonicalForm key;
    private final CanonicalForm value;
    private final UnsafeMapData nested = new UnsafeMapData();

    Entries(CanonicalForm key, CanonicalForm value) {
      this.key = key;
      this.value = value;
    }

    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal, Object base, long offset) {
      long place = from.getLong(ordinal);
      nested.pointTo(base, offset + start(place), length(place));
      UnsafeArrayData keys = nested.keyArray();
      int count = nested.numElements();
      out.putCount(count);
      int start = out.size();
      Entry[] entries = new Entry[count];
      for (int i = 0; i < count; i++) {
        int from0 = out.size();
        key.write(out, keys, i, keys.getBaseObject(), keys.getBaseOffset());
        int keyLength = out.size() - from0;
        writeNullable(out, value, nested.valueArray(), i);
        entries[i] = new Entry(Arrays.copyOfRange(out.bytes(), from0, out.size()), keyLength);
      }
      Arrays.sort(entries);
      out.truncate(start);
      for (Entry entry : entries) {
        out.putBytes(entry.bytes, 0, entry.bytes.length);
      }
    }
  }

  /** One entry of a map as written, ordered by the bytes of its key. */
  private record Entry(byte[] bytes, int keyLength) implements Comparable<Entry> {
    @Override
    public int compareTo(Entry other) {
      return Arrays.compareUnsigned(bytes, 0, keyLength, other.bytes, 0, other.keyLength);
    }
  }
}
