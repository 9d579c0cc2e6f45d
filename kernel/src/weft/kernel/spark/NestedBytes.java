package weft.kernel.spark;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.unsafe.Platform;

/** The bytes of a row of one column, put together of those of the rows that are in it. */
public final class NestedBytes {
  private static final int WORD = Long.BYTES;

  /** A row of one column has a word for what is null in it, and one that says where that is. */
  private static final int HEAD = 2 * WORD;

  private NestedBytes() {}

  /** Of a row whose one column is a row. */
  public static byte[] ofRow(byte[] row) {
    byte[] made = begun(row.length);
    System.arraycopy(row, 0, made, HEAD, row.length);
    return made;
  }

  /** Of a row whose one column is a list of rows. */
  public static byte[] ofList(List<byte[]> rows) {
    int words = UnsafeArrayData.calculateHeaderPortionInBytes(rows.size());
    int size = words + WORD * rows.size();
    for (byte[] row : rows) {
      size = Math.addExact(size, row.length);
    }
    byte[] made = begun(size);
    put(made, HEAD, rows.size());
    int at = words + WORD * rows.size();
    for (int number = 0; number < rows.size(); number++) {
      byte[] row = rows.get(number);
      put(made, HEAD + words + WORD * number, place(at, row.length));
      System.arraycopy(row, 0, made, HEAD + at, row.length);
      at += row.length;
    }
    return made;
  }

  private static byte[] begun(int size) {
    byte[] made = new byte[Math.addExact(HEAD, size)];
    put(made, WORD, place(HEAD, size));
    return made;
  }

  private static long place(int at, int size) {
    return (long) at << Integer.SIZE | size;
  }

  private static void put(byte[] bytes, int at, long word) {
    Platform.putLong(bytes, (long) Platform.BYTE_ARRAY_OFFSET + at, word);
  }
}
