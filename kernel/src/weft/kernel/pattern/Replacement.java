package weft.kernel.pattern;

import java.util.function.IntFunction;

/**
 * What takes the place of a match, with {@code $1} and {@code ${name}} for its groups, as Java
 * writes it.
 */
public final class Replacement {
  private final String text;
  private final LinearPattern pattern;

  public Replacement(String text, LinearPattern pattern) {
    this.text = text;
    this.pattern = pattern;
  }

  /** Appends it for one match, whose groups are asked for by number and may be null. */
  public void append(StringBuilder out, IntFunction<String> group) {
    for (int at = 0; at < text.length(); at++) {
      char sign = text.charAt(at);
      if (sign == '\\') {
        at++;
        if (at == text.length()) {
          throw new IllegalArgumentException("The replacement ends in a backslash.");
        }
        out.append(text.charAt(at));
      } else if (sign == '$') {
        at = reference(out, at + 1, group);
      } else {
        out.append(sign);
      }
    }
  }

  /**
   * Appends the group that is named from a place on, and returns the place of the last sign of its
   * name.
   */
  private int reference(StringBuilder out, int start, IntFunction<String> group) {
    int number;
    int end;
    if (start < text.length() && text.charAt(start) == '{') {
      end = text.indexOf('}', start);
      Integer named = end < 0 ? null : pattern.group(text.substring(start + 1, end));
      if (named == null) {
        throw new IllegalArgumentException(
            "The replacement names a group that the pattern does not have.");
      }
      number = named;
    } else {
      number = digit(start);
      if (number < 0 || number > pattern.groups()) {
        throw new IllegalArgumentException(
            "The replacement names a group that the pattern does not have.");
      }
      end = start;
      while (digit(end + 1) >= 0 && number * 10 + digit(end + 1) <= pattern.groups()) {
        number = number * 10 + digit(++end);
      }
    }
    String found = group.apply(number);
    out.append(found == null ? "" : found);
    return end;
  }

  private int digit(int at) {
    return at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9'
        ? text.charAt(at) - '0'
        : -1;
  }
}
