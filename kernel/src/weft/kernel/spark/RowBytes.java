package weft.kernel.spark;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;

/** Rows as bytes: most are already, and only the others are written. */
public final class RowBytes {
  private final StructType type;
  private RowWriter writer;

  public RowBytes(StructType type) {
    this.type = type;
  }

  /** The row whose bytes these are. */
  public static UnsafeRow reading(byte[] bytes, int columns) {
    UnsafeRow row = new UnsafeRow(columns);
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length);
    return row;
  }

  /** The row as bytes, which hold until the next one is asked for. */
  public UnsafeRow of(InternalRow row) {
    if (row instanceof UnsafeRow bytes) {
      return bytes;
    }
    writer = writer == null ? RowWriter.of(type) : writer;
    return writer.write(row);
  }
}
