package weft.kernel.hash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigDecimal;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import weft.kernel.spark.RowWriter;

/** Equal records have equal hashes, however Spark has laid them out; others have others. */
class RecordHashTest {
  private static String hash(StructType type, Object... values) {
    RecordHash hash = new RecordHash(type);
    hash.add(RowWriter.of(type).write(new GenericInternalRow(values)));
    return hash.sum().hex();
  }

  private static String hashOf(DataType type, Object value) {
    return hash(new StructType().add("a", type), value);
  }

  private static UTF8String text(String text) {
    return UTF8String.fromString(text);
  }

  @Test
  void isTheSha256OfTheCanonicalForm() throws Exception {
    StructType type =
        new StructType().add("a", DataTypes.StringType).add("b", DataTypes.IntegerType);
    byte[] form = {1, 2, 'h', 'i', 2, 0, 0, 1, 2, 0};
    byte[] expected = MessageDigest.getInstance("SHA-256").digest(form);
    assertEquals(HexFormat.of().formatHex(expected), hash(type, text("hi"), 258));
  }

  @Test
  void aColumnAddedLaterDoesNotChangeOldRecords() {
    StructType before = new StructType().add("a", DataTypes.LongType);
    StructType after = before.add("b", DataTypes.StringType);
    assertEquals(hash(before, 5L), hash(after, 5L, null));
    assertNotEquals(hash(before, 5L), hash(after, 5L, text("")));
  }

  @Test
  void theOrderOfAMapIsNoPartOfIt() {
    DataType type = DataTypes.createMapType(DataTypes.StringType, DataTypes.IntegerType);
    Object there = map(new Object[] {text("x"), text("ab")}, new Object[] {1, null});
    Object back = map(new Object[] {text("ab"), text("x")}, new Object[] {null, 1});
    Object other = map(new Object[] {text("ab"), text("x")}, new Object[] {1, null});
    assertEquals(hashOf(type, there), hashOf(type, back));
    assertNotEquals(hashOf(type, there), hashOf(type, other));
  }

  private static Object map(Object[] keys, Object[] values) {
    return new ArrayBasedMapData(new GenericArrayData(keys), new GenericArrayData(values));
  }

  @Test
  void thereIsOneNotANumber() {
    double other = Double.longBitsToDouble(0x7ff8000000000123L);
    assertEquals(hashOf(DataTypes.DoubleType, Double.NaN), hashOf(DataTypes.DoubleType, other));
    assertNotEquals(hashOf(DataTypes.DoubleType, 0.0), hashOf(DataTypes.DoubleType, -0.0));
  }

  @Test
  void aDecimalIsTheSameInAWiderType() {
    String narrow = hashOf(DataTypes.createDecimalType(10, 2), decimal("-129.50", 10));
    String wide = hashOf(DataTypes.createDecimalType(30, 2), decimal("-129.50", 30));
    assertEquals(narrow, wide);
    assertNotEquals(narrow, hashOf(DataTypes.createDecimalType(10, 2), decimal("129.50", 10)));
  }

  private static Decimal decimal(String text, int precision) {
    return Decimal.apply(new scala.math.BigDecimal(new BigDecimal(text)), precision, 2);
  }

  @Test
  void whatIsInsideAnArrayStaysThere() {
    DataType type = DataTypes.createArrayType(DataTypes.StringType);
    Object one = new GenericArrayData(new Object[] {text("ab")});
    Object two = new GenericArrayData(new Object[] {text("a"), text("b")});
    assertNotEquals(hashOf(type, one), hashOf(type, two));
  }

  @Test
  void refusesATypeWithoutAForm() {
    assertThrows(
        IllegalArgumentException.class, () -> CanonicalForm.of(DataTypes.CalendarIntervalType));
  }
}
