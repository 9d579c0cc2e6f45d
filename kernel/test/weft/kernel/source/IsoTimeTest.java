package weft.kernel.source;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Random;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import weft.kernel.spark.DateText;

class IsoTimeTest {
  private static final int MANY = 50_000;

  private static Long slow(String text) {
    return DateText.micros(UTF8String.fromString(text));
  }

  private static String random(Random dice) {
    String text =
        String.format(
            "%04d-%02d-%02d%s%02d:%02d:%02d",
            1 + dice.nextInt(9999),
            dice.nextInt(14),
            dice.nextInt(33),
            dice.nextBoolean() ? "T" : " ",
            dice.nextInt(25),
            dice.nextInt(61),
            dice.nextInt(61));
    for (int digits = dice.nextInt(8), i = 0; i < digits; i++) {
      text += i == 0 ? "." : dice.nextInt(10);
    }
    return text + (dice.nextBoolean() ? "Z" : "");
  }

  @Test
  void whatIsReadIsWhatSparkReads() {
    Random dice = new Random(7);
    int read = 0;
    for (int i = 0; i < MANY; i++) {
      String text = random(dice);
      long micros = IsoTime.micros(text);
      if (micros != IsoTime.NONE) {
        assertEquals(slow(text), micros, text);
        read++;
      }
    }
    assertEquals(true, read > MANY / 2, "most of them are times");
  }

  @Test
  void leapDaysAndTheEndsOfCenturiesAreRight() {
    for (String text :
        new String[] {
          "2024-02-29T00:00:00Z", "2000-02-29 23:59:59.999999", "1900-02-28T12:00:00Z",
          "0001-01-01T00:00:00Z", "1969-12-31T23:59:59.5Z", "9999-12-31T23:59:59.999999Z"
        }) {
      assertEquals(slow(text), IsoTime.micros(text), text);
    }
  }

  @Test
  void everythingElseIsLeftToOthers() {
    for (String text :
        new String[] {
          "", "Z", "2026-01-31", "2026-01-31T12:00Z", "2026-02-29T00:00:00Z", "0000-01-01T00:00:00Z",
          "1900-02-29T00:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:00:60Z",
          "2026-01-31T12:00:00.1234567Z", "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00+01:00",
          "2026-01-31T12:00:00ZZ", "2026-01-31t12:00:00Z", "2026-13-01T00:00:00Z",
          "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "+026-01-01T00:00:00Z",
          " 2026-01-31T12:00:00Z", "2026-01-31T-1:00:00Z", "２026-01-31T12:00:00Z"
        }) {
      assertEquals(IsoTime.NONE, IsoTime.micros(text), text);
    }
  }
}
