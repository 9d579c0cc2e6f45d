package weft.kernel.hash;

import java.security.DigestException;
import java.security.MessageDigest;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.ByteSink;
import weft.kernel.bytes.Sha256;
import weft.kernel.spark.RowWriter;

/**
 * Hashes records whose columns are values at hand, between two steps: the same hash that {@link
 * RecordHash} has of the row once it is written. Columns are given in order, each with its place
 * counted from one; nulls are left out.
 */
public final class StepHash {
  private static final int HASH_BYTES = 32;

  private final ByteSink out = new ByteSink();
  private final MessageDigest sha256 = Sha256.digest();
  private final DataType[] types;
  private final CanonicalForm[] forms;
  private final RowWriter[] writers;
  private final GenericInternalRow single = new GenericInternalRow(1);

  /** For records with columns of these types. */
  public StepHash(DataType[] types) {
    this.types = types;
    this.forms = new CanonicalForm[types.length];
    this.writers = new RowWriter[types.length];
    for (int at = 0; at < types.length; at++) {
      forms[at] = CanonicalForm.of(types[at]);
    }
  }

  /** Begins a record. */
  public void begin() {
    out.truncate(0);
  }

  public void put(int place, boolean value) {
    out.putCount(place);
    out.putByte(value ? 1 : 0);
  }

  public void put(int place, byte value) {
    out.putCount(place);
    out.putByte(value);
  }

  public void put(int place, short value) {
    out.putCount(place);
    out.putShort(value);
  }

  public void put(int place, int value) {
    out.putCount(place);
    out.putInt(value);
  }

  public void put(int place, long value) {
    out.putCount(place);
    out.putLong(value);
  }

  public void put(int place, float value) {
    out.putCount(place);
    out.putInt(Float.floatToIntBits(value));
  }

  public void put(int place, double value) {
    out.putCount(place);
    out.putLong(Double.doubleToLongBits(value));
  }

  public void put(int place, UTF8String value) {
    out.putCount(place);
    putText(value);
  }

  public void put(int place, byte[] value) {
    out.putCount(place);
    out.putCount(value.length);
    out.putBytes(value, 0, value.length);
  }

  public void put(int place, Decimal value) {
    DecimalType type = (DecimalType) types[place - 1];
    if (type.precision() > Decimal.MAX_LONG_DIGITS() || value.scale() != type.scale()) {
      put(place, (Object) value);
      return;
    }
    out.putCount(place);
    CanonicalForm.SmallDecimal.write(out, value.toUnscaledLong(), type.scale());
  }

  /** Any value, written as a row first where its memory may not be that of one. */
  public void put(int place, Object value) {
    int at = place - 1;
    if (writers[at] == null) {
      writers[at] = RowWriter.of(new StructType().add("value", types[at]));
    }
    single.update(0, value);
    UnsafeRow row = writers[at].write(single);
    if (!row.isNullAt(0)) {
      out.putCount(place);
      forms[at].write(out, row, 0, row.getBaseObject(), row.getBaseOffset());
    }
  }

  private void putText(UTF8String value) {
    int length = value.numBytes();
    out.putCount(length);
    out.putMemory(value.getBaseObject(), value.getBaseOffset(), length);
  }

  /** The hash of the record with this id, or of one that has none. */
  public byte[] end(UTF8String id) {
    out.putCount(0);
    if (id != null) {
      putText(id);
    }
    byte[] hash = new byte[HASH_BYTES];
    sha256.update(out.bytes(), 0, out.size());
    try {
      sha256.digest(hash, 0, HASH_BYTES);
    } catch (DigestException e) {
      throw new IllegalStateException(e);
    }
    return hash;
  }
}
