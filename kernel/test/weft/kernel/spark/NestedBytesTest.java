package weft.kernel.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

/** Rows that are put together of bytes are those that Spark would have written. */
class NestedBytesTest {
  private static final StructType TYPE =
      new StructType()
          .add("n", DataTypes.LongType)
          .add("text", DataTypes.StringType)
          .add("list", new ArrayType(DataTypes.StringType, true));

  private static InternalRow row(int number) {
    Object text = number % 3 == 0 ? null : UTF8String.fromString("x".repeat(number));
    Object[] list = {UTF8String.fromString("é" + number), null};
    return new GenericInternalRow(new Object[] {(long) number, text, new GenericArrayData(list)});
  }

  private static byte[] whole(DataType type, Object value) {
    return RowWriter.of(new DataType[] {type})
        .toBytes(new GenericInternalRow(new Object[] {value}));
  }

  @Test
  void aRowInARow() {
    for (int number = 0; number < 20; number++) {
      byte[] inner = RowWriter.of(TYPE).toBytes(row(number));
      assertArrayEquals(whole(TYPE, row(number)), NestedBytes.ofRow(inner));
    }
  }

  @Test
  void aListOfRows() {
    for (int size : new int[] {0, 1, 2, 63, 64, 65, 200}) {
      List<byte[]> parts = new ArrayList<>();
      Object[] rows = new Object[size];
      for (int number = 0; number < size; number++) {
        parts.add(RowWriter.of(TYPE).toBytes(row(number)));
        rows[number] = row(number);
      }
      byte[] made = NestedBytes.ofList(parts);
      assertArrayEquals(whole(new ArrayType(TYPE, false), new GenericArrayData(rows)), made);
      assertEquals(size, RowBytes.reading(made, 1).getArray(0).numElements());
    }
  }
}
