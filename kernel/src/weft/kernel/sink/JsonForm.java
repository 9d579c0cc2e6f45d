package weft.kernel.sink;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
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
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.ByteSink;

/**
 * Writes a value of one type as JSON, byte for byte as the sinks in Python do.
 *
 * <p>Decimals are strings, so that no digit is lost; so are NaN and the infinities, for which JSON
 * has no number. Times are ISO 8601 in UTC, bytes are base64, maps are objects.
 */
abstract class JsonForm {
  private static final byte[] NULL = JsonText.ascii("null");
  private static final byte[] QUOTED_NULL = JsonText.ascii("\"null\"");

  /** Writes the non-null value at an ordinal. */
  abstract void write(ByteSink out, SpecializedGetters from, int ordinal);

  /** Writes it as the whole key of a message: what is text stands there as it is. */
  void writeKey(ByteSink out, SpecializedGetters from, int ordinal) {
    write(out, from, ordinal);
  }

  /** Writes it as the name of a member, which is a string whatever it is made of. */
  void writeName(ByteSink out, SpecializedGetters from, int ordinal) {
    ByteSink value = new ByteSink();
    write(value, from, ordinal);
    if (value.bytes()[0] == '"') {
      out.putBytes(value.bytes(), 0, value.size());
    } else {
      JsonText.putQuoted(out, value.bytes(), Platform.BYTE_ARRAY_OFFSET, value.size());
    }
  }

  /** Whether two names that are written alike are of one key. */
  boolean isOneByName() {
    return true;
  }

  final void writeOrNull(ByteSink out, SpecializedGetters from, int ordinal) {
    if (from.isNullAt(ordinal)) {
      JsonText.put(out, NULL);
    } else {
      write(out, from, ordinal);
    }
  }

  static JsonForm of(DataType type) {
    if (type instanceof StringType) {
      return new StringForm();
    } else if (type instanceof LongType
        || type instanceof IntegerType
        || type instanceof ShortType
        || type instanceof ByteType) {
      return new WholeForm(type);
    } else if (type instanceof DoubleType) {
      return new FloatForm(false);
    } else if (type instanceof FloatType) {
      return new FloatForm(true);
    } else if (type instanceof BooleanType) {
      return new BooleanForm();
    } else if (type instanceof DecimalType decimal) {
      return new DecimalForm(decimal.precision(), decimal.scale());
    } else if (type instanceof DateType) {
      return new DateForm();
    } else if (type instanceof TimestampType) {
      return new TimeForm(true);
    } else if (type instanceof TimestampNTZType) {
      return new TimeForm(false);
    } else if (type instanceof BinaryType) {
      return new Base64Form();
    } else if (type instanceof StructType struct) {
      return new StructForm(struct);
    } else if (type instanceof ArrayType array) {
      return new ArrayForm(of(array.elementType()));
    } else if (type instanceof MapType map) {
      return new MapForm(of(map.keyType()), of(map.valueType()));
    } else if (type instanceof NullType) {
      return new NullForm();
    }
    throw new IllegalArgumentException(
        "Values of type " + type.catalogString() + " have no form in JSON; cast them to another.");
  }

  private static final class NullForm extends JsonForm {
    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal) {
      JsonText.put(out, NULL);
    }
  }

  private static final class StringForm extends JsonForm {
    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal) {
      UTF8String text = from.getUTF8String(ordinal);
      JsonText.putQuoted(out, text.getBaseObject(), text.getBaseOffset(), text.numBytes());
    }

    @Override
    void writeKey(ByteSink out, SpecializedGetters from, int ordinal) {
      UTF8String text = from.getUTF8String(ordinal);
      JsonText.putRaw(out, text.getBaseObject(), text.getBaseOffset(), text.numBytes());
    }

    @Override
    void writeName(ByteSink out, SpecializedGetters from, int ordinal) {
      write(out, from, ordinal);
    }
  }

  private static final class WholeForm extends JsonForm {
    private final DataType type;

    WholeForm(DataType type) {
      this.type = type;
    }

    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal) {
      long value =
          type instanceof LongType
              ? from.getLong(ordinal)
              : type instanceof IntegerType
                  ? from.getInt(ordinal)
                  : type instanceof ShortType ? from.getShort(ordinal) : from.getByte(ordinal);
      JsonText.putLong(out, value);
    }
  }

  private static final class FloatForm extends JsonForm {
    private final boolean isSingle;

    FloatForm(boolean isSingle) {
      this.isSingle = isSingle;
    }

    private double value(SpecializedGetters from, int ordinal) {
      return isSingle ? from.getFloat(ordinal) : from.getDouble(ordinal);
    }

    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal) {
      double value = value(from, ordinal);
      if (Double.isFinite(value)) {
        JsonText.putDouble(out, value);
      } else {
        JsonText.put(out, JsonText.quoted(Double.toString(value)));
      }
    }

    @Override
    void writeKey(ByteSink out, SpecializedGetters from, int ordinal) {
      double value = value(from, ordinal);
      if (Double.isFinite(value)) {
        JsonText.putDouble(out, value);
      } else {
        JsonText.put(out, JsonText.ascii(Double.toString(value)));
      }
    }

    @Override
    void writeName(ByteSink out, SpecializedGetters from, int ordinal) {
      if (Double.isFinite(value(from, ordinal))) {
        super.writeName(out, from, ordinal);
      } else {
        JsonText.put(out, QUOTED_NULL);
      }
    }

    @Override
    boolean isOneByName() {
      return false;
    }
  }

  private static final class BooleanForm extends JsonForm {
    private static final byte[] TRUE = JsonText.ascii("true");
    private static final byte[] FALSE = JsonText.ascii("false");

    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal) {
      JsonText.put(out, from.getBoolean(ordinal) ? TRUE : FALSE);
    }
  }

  private static final class DecimalForm extends JsonForm {
    private final int precision;
    private final int scale;

    DecimalForm(int precision, int scale) {
      this.precision = precision;
      this.scale = scale;
    }

    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal) {
      Decimal value = from.getDecimal(ordinal, precision, scale);
      out.putByte('"');
      if (precision > Decimal.MAX_LONG_DIGITS()) {
        JsonText.put(out, JsonText.ascii(value.toJavaBigDecimal().toPlainString()));
      } else {
        putSmall(out, value.toUnscaledLong());
      }
      out.putByte('"');
    }

    private void putSmall(ByteSink out, long unscaled) {
      if (unscaled < 0) {
        out.putByte('-');
      }
      int start = out.size();
      JsonText.putDigits(out, Math.abs(unscaled), scale + 1);
      if (scale > 0) {
        int whole = out.size() - scale;
        out.putByte(0);
        byte[] bytes = out.bytes();
        System.arraycopy(bytes, whole, bytes, whole + 1, scale);
        bytes[whole] = '.';
        assert whole > start;
      }
    }
  }

  private static final class DateForm extends JsonForm {
    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal) {
      out.putByte('"');
      JsonTime.putDate(out, from.getInt(ordinal));
      out.putByte('"');
    }

    @Override
    void writeKey(ByteSink out, SpecializedGetters from, int ordinal) {
      if (JsonTime.isIso(from.getInt(ordinal))) {
        write(out, from, ordinal);
      } else {
        JsonTime.putDate(out, from.getInt(ordinal));
      }
    }
  }

  private static final class TimeForm extends JsonForm {
    private final boolean isUtc;

    TimeForm(boolean isUtc) {
      this.isUtc = isUtc;
    }

    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal) {
      out.putByte('"');
      JsonTime.putTime(out, from.getLong(ordinal), isUtc);
      out.putByte('"');
    }

    @Override
    void writeKey(ByteSink out, SpecializedGetters from, int ordinal) {
      if (JsonTime.isIsoTime(from.getLong(ordinal))) {
        write(out, from, ordinal);
      } else {
        JsonTime.putTime(out, from.getLong(ordinal), isUtc);
      }
    }
  }

  private static final class Base64Form extends JsonForm {
    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal) {
      out.putByte('"');
      JsonText.put(out, Base64.getEncoder().encode(from.getBinary(ordinal)));
      out.putByte('"');
    }
  }

  /** A struct as an object, its members in their order. */
  private static final class StructForm extends JsonForm {
    private final byte[][] names;
    private final JsonForm[] forms;

    StructForm(StructType type) {
      StructField[] fields = type.fields();
      names = new byte[fields.length][];
      forms = new JsonForm[fields.length];
      for (int i = 0; i < fields.length; i++) {
        names[i] = JsonText.quoted(fields[i].name());
        forms[i] = of(fields[i].dataType());
      }
    }

    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal) {
      InternalRow struct = from.getStruct(ordinal, forms.length);
      out.putByte('{');
      for (int i = 0; i < forms.length; i++) {
        if (i > 0) {
          out.putByte(',');
        }
        JsonText.put(out, names[i]);
        out.putByte(':');
        forms[i].writeOrNull(out, struct, i);
      }
      out.putByte('}');
    }
  }

  private static final class ArrayForm extends JsonForm {
    private final JsonForm element;

    ArrayForm(JsonForm element) {
      this.element = element;
    }

    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal) {
      ArrayData array = from.getArray(ordinal);
      out.putByte('[');
      for (int i = 0; i < array.numElements(); i++) {
        if (i > 0) {
          out.putByte(',');
        }
        element.writeOrNull(out, array, i);
      }
      out.putByte(']');
    }
  }

  /** A map as an object; of a key that it has twice the last value counts, in the first's place. */
  private static final class MapForm extends JsonForm {
    private final JsonForm key;
    private final JsonForm value;

    MapForm(JsonForm key, JsonForm value) {
      this.key = key;
      this.value = value;
    }

    @Override
    void write(ByteSink out, SpecializedGetters from, int ordinal) {
      MapData map = from.getMap(ordinal);
      int count = map.numElements();
      int[] last = count > 1 && key.isOneByName() ? lastOf(map.keyArray(), count) : null;
      out.putByte('{');
      boolean isFirst = true;
      for (int i = 0; i < count; i++) {
        if (last != null && last[i] < 0) {
          continue;
        }
        if (!isFirst) {
          out.putByte(',');
        }
        isFirst = false;
        key.writeName(out, map.keyArray(), i);
        out.putByte(':');
        value.writeOrNull(out, map.valueArray(), last == null ? i : last[i]);
      }
      out.putByte('}');
    }

    /** For each place the place of its value, or less than none where its key stood before. */
    private int[] lastOf(ArrayData keys, int count) {
      int[] last = new int[count];
      Map<ByteBuffer, Integer> seen = new HashMap<>();
      ByteSink name = new ByteSink();
      for (int i = 0; i < count; i++) {
        name.truncate(0);
        key.writeName(name, keys, i);
        byte[] bytes = Arrays.copyOf(name.bytes(), name.size());
        Integer first = seen.putIfAbsent(ByteBuffer.wrap(bytes), i);
        last[i] = first == null ? i : -1;
        if (first != null) {
          last[first] = i;
        }
      }
      return last;
    }
  }
}
