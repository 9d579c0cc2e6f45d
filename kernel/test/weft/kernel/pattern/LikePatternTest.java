package weft.kernel.pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** LIKE: one character, any number of them, and both as they stand behind an escape. */
class LikePatternTest {
  @ParameterizedTest
  @CsvSource({
    "a%, abc, true",
    "a%, ba, false",
    "%a, ba, true",
    "a_c, abc, true",
    "a_c, a😀c, true",
    "a_c, ac, false",
    "%b%b%, abab, true",
    "%b%b%, aba, false",
    "a\\%, a%, true",
    "a\\%, ab, false",
    "a\\\\b, a\\b, true",
    "%ab%cd, aabcabcd, true",
    "'', '', true",
    "%, '', true",
    "_, '', false",
  })
  void matchesWholeTexts(String pattern, String text, boolean matches) {
    assertEquals(matches, LikePattern.compile(pattern, '\\').matches(text, units -> {}));
  }

  @Test
  void refusesAnEscapeOfNothing() {
    assertThrows(PatternException.class, () -> LikePattern.compile("a\\b", '\\'));
    assertThrows(PatternException.class, () -> LikePattern.compile("a\\", '\\'));
  }

  @Test
  void chargesAllThatItTries() {
    long[] done = {0};
    LikePattern.compile("%aaab", '\\').matches("a".repeat(10_000), units -> done[0] += units);
    assertTrue(done[0] > 10_000 && done[0] < 100_000, "work: " + done[0]);
  }
}
