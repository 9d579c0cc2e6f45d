package weft.kernel.window.aggregate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;

/** Values that are equal are one of a set, whatever their bits. */
class CollectTest {

  private static Object[] collected(Collect collect, Object... values) {
    return ((GenericArrayData) Slots.of(collect, values).result()).array();
  }

  @Test
  void bothZerosAndAllNotNumbersAreOneValue() {
    double other = Double.longBitsToDouble(0x7ff8000000000001L);
    Collect doubles = new Collect(0, DataTypes.DoubleType, true);
    assertArrayEquals(
        new Object[] {-1.0, 0.0, Double.NaN},
        collected(doubles, Double.NaN, -0.0, 0.0, -1.0, other));
    Collect floats = new Collect(0, DataTypes.FloatType, true);
    assertArrayEquals(new Object[] {0.0f}, collected(floats, -0.0f, 0.0f));
  }
}
