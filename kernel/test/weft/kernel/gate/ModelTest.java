package weft.kernel.gate;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;

/** A map costs what its entries take to put in, which is more than its bytes. */
class ModelTest {
  private static final DataType NUMBERS = DataTypes.createArrayType(DataTypes.LongType);

  private static Model.Arguments arrays(int length) {
    Object[] numbers = new Object[length];
    for (int at = 0; at < length; at++) {
      numbers[at] = (long) at;
    }
    GenericArrayData array = new GenericArrayData(numbers);
    return new Model.Arguments(
        () -> NUMBERS, List.of(NUMBERS, NUMBERS), new Object[] {array, array});
  }

  private static long spent(Model model, Model.Arguments given) {
    Budget budget = new Budget();
    budget.begin(0);
    model.charge(given, budget);
    return budget.spent();
  }

  @Test
  void entriesCostMoreThanElements() {
    Model.Arguments given = arrays(1_000);
    assertTrue(spent(Model.MAP, given) > 3 * spent(Model.SUM, given));
  }

  @Test
  void aRecordCannotMakeLargeMapsOverAndOver() {
    Budget budget = new Budget();
    budget.begin(0);
    Model.Arguments given = arrays(100_000);
    assertThrows(
        TooMuchException.class,
        () -> {
          for (int round = 0; round < 10; round++) {
            long before = budget.beginRound(0);
            Model.MAP.charge(given, budget);
            budget.endRound(before, 0);
          }
        });
  }
}
