package weft.kernel.change;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import weft.kernel.bytes.Blob;
import weft.kernel.spark.RowBytes;
import weft.kernel.spark.RowWriter;

/** Changes of a row go by the database's log; what a change leaves out stays what it was there. */
class ChangedTest {
  private static final StructType TYPE =
      new StructType().add("id", DataTypes.LongType).add("text", DataTypes.StringType);
  private static final RowWriter WRITER = RowWriter.of(TYPE);
  private static final byte[] KEY = {7};
  private static final int TEXT = 1;

  private static byte[] position(String text) {
    return text == null ? null : text.getBytes();
  }

  private static Changed at(String position, long knot, long offset) {
    return Changed.of(KEY, position(position), knot, offset, null, Changed.NOTHING_KEPT);
  }

  private static Changed text(String position, long knot, String text) {
    return change(position, knot, text, Changed.NOTHING_KEPT);
  }

  /** A change that has left the text out. */
  private static Changed kept(String position, long knot) {
    return change(position, knot, null, new int[] {TEXT});
  }

  private static Changed change(String position, long knot, String text, int[] kept) {
    Object[] values = {knot, text == null ? null : UTF8String.fromString(text)};
    byte[] row = WRITER.toBytes(new GenericInternalRow(values));
    return Changed.of(KEY, position(position), knot, 0, row, kept);
  }

  /** The row after changes that arrive in this order, as a table takes them. */
  private static Changed after(Changed... arriving) {
    Changed now = arriving[0];
    for (Changed change : List.of(arriving).subList(1, arriving.length)) {
      now =
          change.isBefore(now)
              ? now.takeOver(change, TYPE, WRITER, true)
              : change.takeOver(now, TYPE, WRITER, false);
    }
    return now;
  }

  private static String textOf(Changed change) {
    UnsafeRow row = RowBytes.reading(change.row(), TYPE.size());
    return row.isNullAt(TEXT) ? null : row.getUTF8String(TEXT).toString();
  }

  private static Changed reread(Changed change) {
    Blob out = new Blob();
    change.write(out);
    return Changed.read(Blob.reading(out.toArray()));
  }

  @Test
  void theLogDecidesAndNotTheArrival() {
    assertTrue(at("01", 9, 9).isBefore(at("02", 1, 1)));
    assertFalse(at("02", 1, 1).isBefore(at("01", 9, 9)));
  }

  @Test
  void positionsCompareByTheirBytes() {
    assertTrue(at("0f", 1, 0).isBefore(at("10", 1, 0)));
    assertTrue(at("1", 1, 0).isBefore(at("1/2", 1, 0)));
    assertTrue(at("~", 1, 0).isBefore(at("\u00e9", 1, 0)));
  }

  @Test
  void whereTheLogSaysNothingTheArrivalDecides() {
    assertTrue(at("02", 1, 5).isBefore(at("02", 1, 6)));
    assertTrue(at("02", 1, 6).isBefore(at("02", 2, 5)));
    assertTrue(at(null, 1, 0).isBefore(at("01", 2, 0)));
    assertTrue(at("09", 1, 0).isBefore(at(null, 2, 0)));
    assertFalse(at(null, 2, 0).isBefore(at(null, 2, 0)));
  }

  @Test
  void aSweepTakesWhatWasBeforeItAndNothingOfItsOwnSnapshot() {
    Changed mark = at("05", 3, 3);
    assertTrue(mark.sweeps(at("04", 9, 9)));
    assertFalse(mark.sweeps(at("05", 1, 1)));
    assertFalse(mark.sweeps(at("06", 1, 1)));
  }

  @Test
  void aSweepWithoutAPositionTakesWhatArrivedBeforeIt() {
    Changed mark = at(null, 3, 3);
    assertTrue(mark.sweeps(at("99", 2, 9)));
    assertTrue(mark.sweeps(at(null, 3, 2)));
    assertFalse(mark.sweeps(mark));
    assertFalse(mark.sweeps(at("00", 3, 4)));
  }

  @Test
  void aValueThatWasLeftOutIsTheOneBefore() {
    Changed now = after(text("01", 1, "big"), kept("02", 2), kept("03", 3));
    assertEquals("big", textOf(now));
    assertEquals(3L, RowBytes.reading(now.row(), TYPE.size()).getLong(0));
  }

  @Test
  void aValueThatWasLeftOutIsTheSameInAnyOrderOfArrival() {
    List<Changed> changes =
        List.of(text("01", 1, "old"), text("02", 2, "new"), kept("03", 3), kept("04", 4));
    List<List<Changed>> orders = orders(changes);
    assertEquals(24, orders.size());
    for (List<Changed> order : orders) {
      Changed now = after(order.toArray(new Changed[0]));
      assertEquals("new", textOf(now));
      assertArrayEquals(position("04"), now.position());
    }
  }

  private static List<List<Changed>> orders(List<Changed> changes) {
    if (changes.isEmpty()) {
      return List.of(List.of());
    }
    List<List<Changed>> found = new ArrayList<>();
    for (Changed last : changes) {
      List<Changed> others = new ArrayList<>(changes);
      others.remove(last);
      for (List<Changed> order : orders(others)) {
        List<Changed> longer = new ArrayList<>(order);
        longer.add(last);
        found.add(longer);
      }
    }
    return found;
  }

  @Test
  void anOlderValueThatComesLateReplacesNoNewerOne() {
    Changed now = after(text("02", 1, "new"), kept("03", 2), text("01", 3, "old"));
    assertEquals("new", textOf(now));
  }

  @Test
  void aChangeThatComesTwiceIsTheSameRow() {
    Changed now = after(text("01", 1, "big"), kept("02", 2), kept("02", 3));
    assertEquals("big", textOf(now));
  }

  @Test
  void nothingIsTakenFromARowThatIsGone() {
    Changed change = kept("03", 3);
    assertSame(change, change.takeOver(at("02", 2, 0), TYPE, WRITER, false));
    assertNull(textOf(change));
    Changed whole = text("03", 3, "own");
    assertSame(whole, whole.takeOver(text("02", 2, "other"), TYPE, WRITER, false));
  }

  @Test
  void whereAValueCameFromIsKeptWithIt() {
    Changed now = reread(after(kept("03", 1), text("01", 2, "old")));
    assertEquals("old", textOf(now));
    assertEquals("new", textOf(after(now, text("02", 3, "new"))));
    assertEquals("old", textOf(after(now, text("00", 3, "older"))));
  }

  @Test
  void whatIsReadIsWhatWasWritten() {
    Changed gone = reread(at(null, 4, 5));
    assertFalse(gone.isAlive());
    assertNull(gone.position());
    assertEquals(4, gone.knot());
    assertEquals(5, gone.offset());
    assertArrayEquals(KEY, gone.key());
    Changed change = reread(kept("03", 3));
    assertTrue(change.isAlive());
    assertArrayEquals(new int[] {TEXT}, change.kept());
    assertEquals("big", textOf(after(text("01", 1, "big"), change)));
  }
}
