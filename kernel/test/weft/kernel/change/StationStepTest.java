package weft.kernel.change;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.Map;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

/** A place sees its letters in one order, by their kinds, whatever order they come in. */
class StationStepTest {
  /** What was told to each place, in the order in which it was told. */
  private static final Map<String, List<String>> TOLD = new TreeMap<>();

  private record Listener() implements Station {
    @Override
    public int level() {
      return 0;
    }

    @Override
    public void settle(byte[] link, List<Letter> letters, Desk desk) {
      List<String> told = TOLD.computeIfAbsent(text(link), place -> new ArrayList<>());
      for (Letter letter : letters) {
        told.add(
            letter.kind() + "/" + letter.part() + "/" + text(letter.row()) + "/"
                + text(letter.value()));
      }
    }
  }

  private static String text(byte[] bytes) {
    return bytes == null ? "-" : HexFormat.of().formatHex(bytes);
  }

  private static Letter letter(int kind, int link, int row, Integer value, int part) {
    byte[] is = value == null ? null : new byte[] {value.byteValue()};
    return new Letter(kind, 0, new byte[] {(byte) link}, new byte[] {(byte) row}, is, part);
  }

  private static Map<String, List<String>> told(List<Letter> letters) {
    TOLD.clear();
    StructType none = new StructType();
    Plan plan =
        new Plan(List.of(), List.of(new Listener()), new Plan.Result(none, none, new int[0]));
    new StationStep(plan, new Desk(new MapStore(), new Post(plan, 1), null)).run(letters);
    return new TreeMap<>(TOLD);
  }

  @Test
  void lettersComeInOneOrder() {
    List<Letter> letters = new ArrayList<>();
    for (int link = 0; link < 3; link++) {
      for (int row : new int[] {1, 127, 128, 255}) {
        letters.add(letter(Letter.REMOVE, link, row, null, 0));
        letters.add(letter(Letter.REMOVE, link, row, 9, 1));
        letters.add(letter(Letter.ROW, link, row, 200, 0));
        letters.add(letter(Letter.UNSUBSCRIBE, link, row, null, 0));
        letters.add(letter(Letter.SUBSCRIBE, link, row, null, 0));
        letters.add(letter(Letter.PART, link, row, null, 1));
      }
    }
    Map<String, List<String>> wanted = told(letters);
    assertEquals("0/0/01/-", wanted.get("00").get(0));
    assertEquals("4/1/ff/-", wanted.get("02").get(23));
    Random random = new Random(3);
    for (int time = 0; time < 20; time++) {
      Collections.shuffle(letters, random);
      assertEquals(wanted, told(letters));
    }
  }
}
