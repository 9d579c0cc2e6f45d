package weft.kernel.pattern;

import java.util.ArrayList;
import java.util.List;

/**
 * A LIKE pattern: characters, {@code _} for any one, {@code %} for any number. Matched by going
 * back to the last {@code %} only, since what fits after an earlier one fits after it too.
 */
public final class LikePattern {
  private static final int ANY = -1;
  private static final int MANY = -2;

  private final int[] places;

  private LikePattern(int[] places) {
    this.places = places;
  }

  /**
   * The pattern that a text says; throws a {@link PatternException} for an escape before nothing to
   * escape.
   */
  public static LikePattern compile(String text, char escape) {
    List<Integer> places = new ArrayList<>();
    int[] characters = text.codePoints().toArray();
    for (int at = 0; at < characters.length; at++) {
      int character = characters[at];
      if (character == escape) {
        at++;
        if (at == characters.length
            || (characters[at] != '_' && characters[at] != '%' && characters[at] != escape)) {
          throw new PatternException("it has the escape " + escape + " before what needs none");
        }
        places.add(characters[at]);
      } else if (character == '%') {
        if (places.isEmpty() || places.get(places.size() - 1) != MANY) {
          places.add(MANY);
        }
      } else {
        places.add(character == '_' ? ANY : character);
      }
    }
    return new LikePattern(places.stream().mapToInt(Integer::intValue).toArray());
  }

  /** Whether a whole text fits. */
  public boolean matches(String text, Meter meter) {
    int at = 0;
    int place = 0;
    int many = -1;
    int again = 0;
    long steps = 0;
    while (at < text.length()) {
      steps++;
      int character = text.codePointAt(at);
      if (place < places.length && places[place] == MANY) {
        many = place++;
        again = at;
      } else if (place < places.length && (places[place] == ANY || places[place] == character)) {
        place++;
        at += Character.charCount(character);
      } else if (many >= 0) {
        again += Character.charCount(text.codePointAt(again));
        at = again;
        place = many + 1;
      } else {
        break;
      }
      if (steps > 1 << 14) {
        meter.work(steps);
        steps = 0;
      }
    }
    meter.work(steps);
    while (place < places.length && places[place] == MANY) {
      place++;
    }
    return at == text.length() && place == places.length;
  }
}
