package weft.kernel.pattern;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Reads a pattern in Java's own dialect. What has no linear time (looking around, referring back,
 * atomic groups) is refused; what one character may be is left to Java.
 */
final class Syntax {
  static final int MAX_LENGTH = 1_000;
  static final int MAX_GROUPS = 50;
  private static final int MAX_DEPTH = 50;
  private static final int MAX_COUNT = 1_000;
  private static final Pattern COUNT = Pattern.compile("\\{(\\d+)(,(\\d*))?\\}");
  private static final Pattern NAME = Pattern.compile("<([a-zA-Z][a-zA-Z0-9]*)>");
  private static final Pattern FLAGS = Pattern.compile("([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])");

  /** Escapes that stand for one character, with all that belongs to them. */
  private static final Pattern ESCAPE =
      Pattern.compile(
          "\\\\(?:[pP](?:\\{[^}]*\\}|.)|x(?:\\{[^}]*\\}|..)|u(?<unit>....)"
              + "|0(?:[0-3][0-7]{2}|[0-7]{1,2})|c.|[^a-zA-Z0-9]|[dDsSwWhHvVtnrfae])",
          Pattern.DOTALL);

  private final String text;
  private final Map<String, Integer> names = new HashMap<>();
  private final Map<String, CharSet> sets = new HashMap<>();
  private int at;
  private int flags;
  private int groups;
  private int depth;

  /** What was read: the whole pattern, how many groups it has, and those that have names. */
  record Parsed(Part root, int groups, Map<String, Integer> names) {}

  private Syntax(String text) {
    this.text = text;
  }

  static Parsed parse(String text) {
    if (text.length() > MAX_LENGTH) {
      throw new PatternException("it has more than " + MAX_LENGTH + " characters");
    }
    try {
      Pattern.compile(text);
      Syntax syntax = new Syntax(text);
      Part root = syntax.choice();
      if (syntax.at < text.length()) {
        throw new PatternException("it has a closing bracket too many");
      }
      return new Parsed(root, syntax.groups, Map.copyOf(syntax.names));
    } catch (PatternSyntaxException e) {
      throw new PatternException("it cannot be read: " + e.getDescription());
    } catch (StackOverflowError e) {
      throw new PatternException("it is nested too deep");
    }
  }

  private Part choice() {
    if (++depth > MAX_DEPTH) {
      throw new PatternException("it is nested too deep");
    }
    int outer = flags;
    List<Part> parts = new ArrayList<>(List.of(sequence()));
    while (at < text.length() && text.charAt(at) == '|') {
      at++;
      parts.add(sequence());
    }
    flags = outer;
    depth--;
    return parts.size() == 1 ? parts.get(0) : new Part.Choice(parts);
  }

  private Part sequence() {
    List<Part> parts = new ArrayList<>();
    while (at < text.length() && text.charAt(at) != '|' && text.charAt(at) != ')') {
      if (text.startsWith("\\Q", at)) {
        quoted(parts);
      } else {
        Part atom = atom();
        if (atom != null) {
          parts.add(repeated(atom));
        }
      }
    }
    return parts.size() == 1 ? parts.get(0) : new Part.Sequence(parts);
  }

  /** Everything up to \E as it stands; what follows it repeats its last character. */
  private void quoted(List<Part> parts) {
    int end = text.indexOf("\\E", at + 2);
    String literal = text.substring(at + 2, end < 0 ? text.length() : end);
    at = end < 0 ? text.length() : end + 2;
    literal.codePoints().forEach(each -> parts.add(literal(each)));
    if (!literal.isEmpty()) {
      parts.add(repeated(parts.remove(parts.size() - 1)));
    }
  }

  private Part literal(int character) {
    return one(Pattern.quote(Character.toString(character)));
  }

  private Part one(String atom) {
    return new Part.One(sets.computeIfAbsent(flags + atom, key -> new CharSet(atom, flags)));
  }

  /** The next part before what repeats it; null when it only sets flags. */
  private Part atom() {
    char sign = text.charAt(at);
    switch (sign) {
      case '(':
        return group();
      case '[':
        return one(bracketed());
      case '\\':
        return escape();
      case '^':
        at++;
        return new Part.Anchor(has(Pattern.MULTILINE) ? Assertion.LINE_BEGIN : Assertion.BEGIN);
      case '$':
        at++;
        return new Part.Anchor(has(Pattern.MULTILINE) ? Assertion.LINE_END : Assertion.LAST_END);
      case '.':
        at++;
        return one(".");
      default:
        int character = text.codePointAt(at);
        at += Character.charCount(character);
        return literal(character);
    }
  }

  private boolean has(int flag) {
    return (flags & flag) != 0;
  }

  private Part group() {
    at++;
    if (at >= text.length() || text.charAt(at) != '?') {
      return closed(++groups);
    }
    at++;
    Matcher name = NAME.matcher(text).region(at, text.length());
    if (name.lookingAt()) {
      at = name.end();
      names.put(name.group(1), ++groups);
      return closed(groups);
    }
    if (text.startsWith("=", at) || text.startsWith("!", at) || text.startsWith("<", at)) {
      throw new PatternException("it looks ahead or behind, which has no linear time");
    }
    if (text.startsWith(">", at)) {
      throw new PatternException("it has an atomic group, which has no linear time");
    }
    Matcher found = FLAGS.matcher(text).region(at, text.length());
    if (!found.lookingAt()) {
      throw new PatternException("it has a group of an unknown kind");
    }
    int outer = flags;
    flags = (flags | flagsOf(found.group(1))) & ~flagsOf(found.group(2));
    at = found.end();
    if (found.group(3).equals(")")) {
      return null;
    }
    Part body = closed(0);
    flags = outer;
    return body;
  }

  /** The rest of a group up to its bracket, remembered under its number if it has one. */
  private Part closed(int number) {
    if (number > MAX_GROUPS) {
      throw new PatternException("it has more than " + MAX_GROUPS + " groups");
    }
    Part body = choice();
    at++;
    return number == 0 ? body : new Part.Capture(body, number);
  }

  private static int flagsOf(String letters) {
    int flags = 0;
    for (int at = 0; letters != null && at < letters.length(); at++) {
      flags |=
          switch (letters.charAt(at)) {
            case 'i' -> Pattern.CASE_INSENSITIVE;
            case 'm' -> Pattern.MULTILINE;
            case 's' -> Pattern.DOTALL;
            case 'u' -> Pattern.UNICODE_CASE;
            default ->
                throw new PatternException(
                    "it sets the flag " + letters.charAt(at) + ", which is not taken");
          };
    }
    return flags;
  }

  /** A class in brackets, up to the first bracket at which Java takes it for whole. */
  private String bracketed() {
    int start = at;
    for (int end = text.indexOf(']', start + 1); end >= 0; end = text.indexOf(']', end + 1)) {
      String atom = text.substring(start, end + 1);
      if (isWhole(atom)) {
        at = end + 1;
        return atom;
      }
    }
    throw new PatternException("a class in it is not closed");
  }

  private static boolean isWhole(String atom) {
    try {
      Pattern.compile(atom);
      return true;
    } catch (PatternSyntaxException e) {
      return false;
    }
  }

  private Part escape() {
    char sign = at + 1 < text.length() ? text.charAt(at + 1) : '\\';
    Assertion assertion =
        switch (sign) {
          case 'A' -> Assertion.BEGIN;
          case 'z' -> Assertion.END;
          case 'Z' -> Assertion.LAST_END;
          case 'b' -> Assertion.WORD_EDGE;
          case 'B' -> Assertion.NO_WORD_EDGE;
          default -> null;
        };
    if (assertion != null && !text.startsWith("\\b{", at)) {
      at += 2;
      return new Part.Anchor(assertion);
    }
    Matcher found = ESCAPE.matcher(text).region(at, text.length());
    if (sign == 'k' || (sign >= '1' && sign <= '9')) {
      throw new PatternException("it refers back to what it matched, which has no linear time");
    }
    if (!found.lookingAt()) {
      throw new PatternException("it has the escape \\" + sign + ", which is not taken");
    }
    String atom = found.group();
    at = found.end();
    if (found.group("unit") != null && Character.isHighSurrogate(unit(found))) {
      Matcher other = ESCAPE.matcher(text).region(at, text.length());
      if (other.lookingAt()
          && other.group("unit") != null
          && Character.isLowSurrogate(unit(other))) {
        atom += other.group();
        at = other.end();
      }
    }
    return one(atom);
  }

  private static char unit(Matcher escape) {
    return (char) Integer.parseInt(escape.group("unit"), 16);
  }

  private Part repeated(Part atom) {
    if (at >= text.length()) {
      return atom;
    }
    int least;
    int most;
    switch (text.charAt(at)) {
      case '*':
        least = 0;
        most = -1;
        at++;
        break;
      case '+':
        least = 1;
        most = -1;
        at++;
        break;
      case '?':
        least = 0;
        most = 1;
        at++;
        break;
      case '{':
        Matcher count = COUNT.matcher(text).region(at, text.length());
        if (!count.lookingAt()) {
          throw new PatternException("a repetition in it cannot be read");
        }
        least = number(count.group(1));
        most =
            count.group(2) == null ? least : count.group(3).isEmpty() ? -1 : number(count.group(3));
        at = count.end();
        break;
      default:
        return atom;
    }
    if (text.startsWith("+", at)) {
      throw new PatternException("it repeats possessively, which has no linear time");
    }
    if (atom.isNullable() && (most < 0 || most > 1)) {
      throw new PatternException("it repeats what may match nothing");
    }
    boolean isLazy = text.startsWith("?", at);
    at += isLazy ? 1 : 0;
    return new Part.Repeat(atom, least, most, !isLazy);
  }

  private static int number(String digits) {
    if (digits.length() > 4 || Integer.parseInt(digits) > MAX_COUNT) {
      throw new PatternException("it repeats something more than " + MAX_COUNT + " times");
    }
    return Integer.parseInt(digits);
  }
}
