package weft.kernel.change;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.spark.RowBytes;
import weft.kernel.spark.RowWriter;

/** The results that a batch has changed, as rows: what happened, in which batch, the result. */
public final class Outlet {
  private static final int MOST_BYTES = 1 << 20;

  private final Plan.Result result;
  private final RowWriter writer;
  private Blob out = new Blob();
  private String batch = "";

  Outlet(Plan plan) {
    this.result = plan.result();
    this.writer = plan.outlet();
  }

  static StructType type(Plan.Result result) {
    return new StructType()
        .add("op", DataTypes.StringType)
        .add("batch", DataTypes.StringType)
        .add("document", result.type());
  }

  /** A name of the batch, which no other batch of the pipeline has. */
  void name(String name) {
    batch = name;
  }

  /**
   * Puts a result out; of one that is gone only the key is left.
   *
   * @param value a row whose one column is the result, or null
   */
  public void put(String op, byte[] key, byte[] value) {
    InternalRow document =
        value == null
            ? gone(key)
            : RowBytes.reading(value, 1).getStruct(0, result.type().size());
    UnsafeRow row =
        writer.write(
            new GenericInternalRow(
                new Object[] {
                  UTF8String.fromString(op), UTF8String.fromString(batch), document
                }));
    out.putLong(row.getSizeInBytes());
    out.putRaw(row.getBaseObject(), row.getBaseOffset(), row.getSizeInBytes());
  }

  private InternalRow gone(byte[] key) {
    Object[] values = new Object[result.type().size()];
    StructType keyType = result.keyType();
    UnsafeRow columns = RowBytes.reading(key, keyType.size());
    for (int at = 0; at < keyType.size(); at++) {
      values[result.keyAt()[at]] = columns.get(at, keyType.fields()[at].dataType());
    }
    return new GenericInternalRow(values);
  }

  boolean isEmpty() {
    return out.position() == 0;
  }

  boolean isFull() {
    return out.position() > MOST_BYTES;
  }

  /** Gives what was put out and has not been given yet. */
  byte[] empty() {
    byte[] given = out.toArray();
    out = Blob.ofSize(given.length);
    return given;
  }
}
