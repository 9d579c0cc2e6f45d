package weft.kernel.source;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Turns the raw bytes of a record into typed columns or a reason why not, and fails for no record.
 */
public abstract class RecordParser implements Serializable {
  private static final long HIGH_BITS = 0x8080808080808080L;

  private final StructType schema;
  private final int required;

  /**
   * @param schema the declared columns
   * @param required a column that may not be null, or null when all may
   */
  RecordParser(StructType schema, String required) {
    this.schema = schema;
    this.required = required == null ? -1 : schema.fieldIndex(required);
  }

  /** The type of what {@link #parse} returns: the columns, or else the reason. */
  StructType resultType() {
    return new StructType().add("columns", schema).add("bad", DataTypes.StringType);
  }

  final StructType schema() {
    return schema;
  }

  /**
   * Called by generated code, once for each record; {@code header} is that of a CSV file or null.
   */
  public final InternalRow parse(byte[] value, UTF8String header) {
    try {
      return new GenericInternalRow(new Object[] {check(read(text(value), header)), null});
    } catch (BadRecord bad) {
      return bad(bad.getMessage());
    } catch (RuntimeException surprise) { // one record must not stop a stream
      return bad("the record cannot be read: " + surprise);
    }
  }

  private static InternalRow bad(String reason) {
    return new GenericInternalRow(new Object[] {null, UTF8String.fromString(reason)});
  }

  /** The columns of a record that is known to be valid UTF-8 and not empty. */
  abstract InternalRow read(byte[] value, UTF8String header) throws BadRecord;

  private static byte[] text(byte[] value) throws BadRecord {
    if (value == null) {
      throw new BadRecord("the record has no value");
    }
    if (UTF8String.fromBytes(value).trimAll().numBytes() == 0) {
      throw new BadRecord("the record is empty");
    }
    if (!isAscii(value) && !UTF8String.fromBytes(value).isValid()) {
      throw new BadRecord("the record is not valid UTF-8");
    }
    return value;
  }

  /** Whether all bytes are ASCII, which is as good as always so and found out eight at a time. */
  private static boolean isAscii(byte[] value) {
    int whole = value.length - value.length % Long.BYTES;
    for (int at = 0; at < whole; at += Long.BYTES) {
      if ((Platform.getLong(value, (long) Platform.BYTE_ARRAY_OFFSET + at) & HIGH_BITS) != 0) {
        return false;
      }
    }
    for (int at = whole; at < value.length; at++) {
      if (value[at] < 0) {
        return false;
      }
    }
    return true;
  }

  private InternalRow check(InternalRow columns) throws BadRecord {
    if (required >= 0 && columns.isNullAt(required)) {
      throw new BadRecord("it is missing, and it is the event time")
          .in(schema.fieldNames()[required]);
    }
    return columns;
  }
}
