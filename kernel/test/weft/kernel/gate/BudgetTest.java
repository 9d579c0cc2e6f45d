package weft.kernel.gate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What functions make and do is charged before they do it, and has an end. */
class BudgetTest {
  private final Budget budget = new Budget();

  @BeforeEach
  void begin() {
    budget.begin(0);
  }

  private void charge(Model model, List<DataType> types, Object... values) {
    model.charge(new Model.Arguments(() -> DataTypes.StringType, types, values), budget);
  }

  @Test
  void aValueHasAMostSize() {
    budget.make(Budget.VALUE_BYTES);
    assertThrows(TooMuchException.class, () -> budget.make(Budget.VALUE_BYTES + 1));
  }

  @Test
  void allStepsOfARecordShareOneBudget() {
    budget.make(1000);
    budget.work(500);
    assertEquals(1000 * Budget.UNITS_PER_BYTE + 500, budget.spent());
    budget.begin(Budget.RECORD_UNITS - 10);
    budget.work(10);
    assertThrows(TooMuchException.class, () -> budget.work(1));
  }

  @Test
  void aRoundOfALoopGivesBackWhatItDoesNotKeep() {
    long before = budget.beginRound(7);
    budget.make(100);
    budget.endRound(before, 20);
    assertEquals(7 + 100 + 20 * Budget.UNITS_PER_BYTE, budget.spent());
  }

  @Test
  void repeatingIsChargedByItsResult() {
    List<DataType> types = List.of(DataTypes.StringType, DataTypes.IntegerType);
    charge(Model.REPEAT, types, UTF8String.fromString("abc"), 4);
    assertEquals(12 * Budget.UNITS_PER_BYTE, budget.spent());
    assertThrows(
        TooMuchException.class,
        () -> charge(Model.REPEAT, types, UTF8String.fromString("abc"), Integer.MAX_VALUE));
  }

  @Test
  void aProductStaysAtTheHighestNumber() {
    assertEquals(Long.MAX_VALUE, Model.times(1L << 40, 1L << 40));
    assertEquals(0, Model.times(-5, 3));
  }
}
