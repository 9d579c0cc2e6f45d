package weft.kernel.spark;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import weft.kernel.bytes.Slice;

/** Rows as bytes: most are already, and only the others are written. */
public final class RowBytes {
  private final StructType type;
  private RowWriter writer;

  public RowBytes(StructType type) {
    this.type = type;
  }

  /** The row whose bytes these are. */
  public static UnsafeRow reading(byte[] bytes, int columns) {
    return reading(Slice.of(bytes), columns);
  }

  /** A row of so many columns that reads some bytes where they stand. */
  public static UnsafeRow reading(Slice bytes, int columns) {
    UnsafeRow row = new UnsafeRow(columns);
    point(row, bytes);
    return row;
  }

  /** Has a row read other bytes. */
  public static void point(UnsafeRow row, Slice bytes) {
    long from = (long) Platform.BYTE_ARRAY_OFFSET + bytes.from();
    row.pointTo(bytes.array(), from, bytes.length());
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
