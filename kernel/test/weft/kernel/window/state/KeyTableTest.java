package weft.kernel.window.state;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.Platform;
import org.junit.jupiter.api.Test;
import weft.kernel.window.aggregate.Aggregate;
import weft.kernel.window.time.Millis;

/** Keys keep their accumulators, in memory, as bytes, and under another list of aggregates. */
class KeyTableTest {
  private static final Aggregate SUM = aggregate("sum", DataTypes.LongType);
  private static final Aggregate SET = aggregate("approx_count_distinct", DataTypes.LongType);
  private static final Aggregate MAX = aggregate("max", DataTypes.LongType);

  private static Aggregate aggregate(String function, DataType type) {
    return new Aggregate(function, function, List.of(type), new double[0], false, false);
  }

  private static SlotLayout layout(Aggregate... aggregates) {
    return new SlotLayout(List.of(aggregates), 0, "end", false);
  }

  private static byte[] key(long number) {
    return ByteBuffer.allocate(16).putLong(number).putLong(~number).array();
  }

  private static int find(KeyTable table, long number) {
    byte[] key = key(number);
    int hash = KeyTable.hash(key, Platform.BYTE_ARRAY_OFFSET, key.length);
    return table.find(key, Platform.BYTE_ARRAY_OFFSET, key.length, hash);
  }

  private static void add(KeyTable table, SlotLayout layout, long number, Object... values) {
    byte[] key = key(number);
    int hash = KeyTable.hash(key, Platform.BYTE_ARRAY_OFFSET, key.length);
    int entry = table.insert(key, Platform.BYTE_ARRAY_OFFSET, key.length, hash);
    layout.add(table, entry, new GenericInternalRow(values), null, 0, Millis.NONE);
  }

  private static Object result(KeyTable table, SlotLayout layout, long number, int at) {
    int entry = find(table, number);
    int l = entry * layout.longs;
    int o = entry * layout.objects;
    return layout.accumulators[at].result(
        table.longs()[l + SlotLayout.RECORDS],
        table.longs(),
        l + layout.longAt[at],
        table.objects(),
        o + layout.objectAt[at]);
  }

  @Test
  void everyKeyIsFoundHoweverManyThereAre() {
    SlotLayout layout = layout(SUM);
    KeyTable table = new KeyTable(layout);
    for (long round = 0; round < 3; round++) {
      for (long number = 0; number < 5_000; number++) {
        add(table, layout, number, number);
      }
    }
    assertEquals(5_000, table.size());
    assertEquals(3 * 4_321L, result(table, layout, 4_321, 0));
    assertArrayEquals(key(17), table.key(find(table, 17)));
    assertEquals(-1, find(table, 5_000));
  }

  @Test
  void aSegmentHoldsWhatWasInTheTable() {
    SlotLayout layout = layout(SUM, SET);
    KeyTable table = new KeyTable(layout);
    for (long number = 0; number < 100; number++) {
      add(table, layout, number % 10, number, number % 7);
    }
    byte[] segment = KeySegment.of(table, layout, layout.id());
    assertEquals(100, KeySegment.records(segment));
    assertEquals(layout.id(), KeySegment.layout(segment));
    KeyTable twice = new KeyTable(layout);
    for (int round = 0; round < 2; round++) {
      KeySegment.readInto(segment, twice, new SlotReader(layout, layout));
    }
    assertEquals(
        2L * (3 + 13 + 23 + 33 + 43 + 53 + 63 + 73 + 83 + 93), result(twice, layout, 3, 0));
    assertEquals(7L, result(twice, layout, 3, 1));
  }

  @Test
  void stateOfAnotherListOfAggregatesIsReadByName() {
    SlotLayout before = layout(SET, SUM);
    KeyTable table = new KeyTable(before);
    add(table, before, 1, 5L, 40L);
    add(table, before, 1, 6L, 2L);
    byte[] segment = KeySegment.of(table, before, before.id());
    SlotLayout now = SlotLayout.fromJson(layout(SUM, MAX).toJson());
    KeyTable read = new KeyTable(now);
    SlotReader reader = new SlotReader(now, SlotLayout.fromJson(before.toJson()));
    KeySegment.readInto(segment, read, reader);
    assertEquals(42L, result(read, now, 1, 0));
    assertNull(result(read, now, 1, 1));
    assertEquals(0b10, read.missing());
  }

  @Test
  void aTableThatIsTakenFromStaysAsItWas() {
    SlotLayout layout = layout(SET);
    KeyTable from = new KeyTable(layout);
    add(from, layout, 1, 5L);
    KeyTable into = new KeyTable(layout);
    into.take(from, 0);
    add(into, layout, 1, 6L);
    assertEquals(1L, result(from, layout, 1, 0));
    assertEquals(2L, result(into, layout, 1, 0));
  }

  @Test
  void stateKeysSortAsTimesDo() {
    byte[][] keys = {StateKey.segment(5, 0), StateKey.segment(-5, 1), StateKey.segment(-5, 0)};
    Arrays.sort(keys, Arrays::compareUnsigned);
    assertEquals(-5, StateKey.time(keys[0]));
    assertArrayEquals(StateKey.segment(-5, 1), keys[1]);
    assertEquals(5, StateKey.time(keys[2]));
  }
}
