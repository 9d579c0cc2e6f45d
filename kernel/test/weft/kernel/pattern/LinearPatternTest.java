package weft.kernel.pattern;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a pattern finds is what Java's own matcher finds, in time that grows with the text only. */
class LinearPatternTest {
  private static final Meter FREE = units -> {};

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a",
        "a(bc)?",
        "ab|a",
        "a|ab",
        "(a|b)+c",
        "(a+)(b*)",
        "a{2,3}?",
        "a{2,}",
        "^a|b$",
        "\\bab\\b",
        "[^ab]",
        "(?i)AB",
        "(?m)^b$",
        "(?s)a.b",
        ".b",
        "\\w+\\s",
        "(?<x>a)(b)?",
        "x*?ab",
        "\\Qa.\\E",
        "(ab|ba)+?c",
        "\\p{Lu}",
        "é|\\x61",
        "a\\Z",
        "\\Aab",
        "\\z",
        "[a-c&&[^b]]",
        "(a|(b))c?"
      })
  void findsWhatJavaFinds(String text) {
    LinearPattern ours = LinearPattern.compile(text);
    Random random = new Random(text.hashCode());
    for (int round = 0; round < 400; round++) {
      String subject = subject(random);
      Matcher java = Pattern.compile(text).matcher(subject);
      boolean isFound = java.find();
      assertEquals(isFound, ours.test(subject, FREE), text + " in '" + subject + "'");
      int[] found = ours.findGroups(subject, 0, 0, FREE);
      assertArrayEquals(isFound ? places(java) : null, found, text + " in '" + subject + "'");
    }
  }

  private static String subject(Random random) {
    String signs = "aaabbbcx \n\r.éAÄ😀";
    int[] characters = signs.codePoints().toArray();
    StringBuilder subject = new StringBuilder();
    for (int left = random.nextInt(12); left > 0; left--) {
      subject.appendCodePoint(characters[random.nextInt(characters.length)]);
    }
    return subject.toString();
  }

  private static int[] places(Matcher found) {
    int[] places = new int[2 * (found.groupCount() + 1)];
    for (int group = 0; group <= found.groupCount(); group++) {
      places[2 * group] = found.start(group);
      places[2 * group + 1] = found.end(group);
    }
    return places;
  }

  @ParameterizedTest
  @ValueSource(strings = {"(a|a)+b", "(a+)+b", "(a|ab|aa)+c", "^(\\w+\\s?)+$"})
  void doesTwiceTheWorkForTwiceTheText(String text) {
    assertTrue(work(text, 20_000) <= 2.1 * work(text, 10_000));
  }

  private static long work(String text, int length) {
    long[] done = {0};
    LinearPattern.compile(text)
        .findGroups("a".repeat(length) + "!", 0, 0, units -> done[0] += units);
    assertTrue(done[0] >= length, "all of the text is charged");
    return done[0];
  }

  @ParameterizedTest
  @ValueSource(strings = {"(a)\\1", "(?=a)b", "(?<!a)b", "(?>a)b", "a++", "(a*)*", "(", "a{1001}"})
  void refusesWhatHasNoLinearTime(String text) {
    assertThrows(PatternException.class, () -> LinearPattern.compile(text));
  }

  @Test
  void knowsItsGroupsByName() {
    LinearPattern pattern = LinearPattern.compile("(?<year>\\d{4})-(\\d\\d)");
    assertEquals(2, pattern.groups());
    assertEquals(1, pattern.group("year"));
    StringBuilder out = new StringBuilder();
    String[] groups = {"2026-01", "2026", "01"};
    new Replacement("$2/${year}\\$", pattern).append(out, number -> groups[number]);
    assertEquals("01/2026$", out.toString());
  }

  @Test
  void aTextIsSearchedFromAPlaceOn() {
    LinearPattern pattern = LinearPattern.compile("^b");
    assertArrayEquals(new int[] {1, 2}, pattern.find("abb", 1, 1, FREE));
    assertFalse(pattern.test("abb", FREE));
  }
}
