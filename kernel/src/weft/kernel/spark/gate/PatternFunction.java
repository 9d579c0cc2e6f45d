package weft.kernel.spark.gate;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.RegExpExtractBase$;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapBuilder;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.gate.Budget;
import weft.kernel.gate.RefusedException;
import weft.kernel.gate.Sizes;
import weft.kernel.pattern.LikePattern;
import weft.kernel.pattern.LinearPattern;
import weft.kernel.pattern.Replacement;

/** The functions that take patterns, as Spark has them. */
enum PatternFunction {
  RLIKE("RLike", 1) {
    @Override
    Ready prepare(String[] patterns) {
      LinearPattern pattern = LinearPattern.compile(patterns[0]);
      return (values, budget) -> pattern.test(values[0].toString(), budget::work);
    }
  },
  LIKE("Like", 1) {
    @Override
    Ready prepare(String[] patterns) {
      LikePattern pattern = LikePattern.compile(patterns[0], patterns[1].charAt(0));
      return (values, budget) -> pattern.matches(values[0].toString(), budget::work);
    }
  },
  REPLACE("RegExpReplace", 1) {
    @Override
    Ready prepare(String[] patterns) {
      LinearPattern pattern = LinearPattern.compile(patterns[0]);
      return (values, budget) ->
          replaced(pattern, (UTF8String) values[0], values[1].toString(), (int) values[2], budget);
    }
  },
  EXTRACT("RegExpExtract", 1) {
    @Override
    Ready prepare(String[] patterns) {
      LinearPattern pattern = LinearPattern.compile(patterns[0]);
      return (values, budget) -> {
        String text = values[0].toString();
        int[] found = pattern.findGroups(text, 0, 0, budget::work);
        return found == null
            ? UTF8String.EMPTY_UTF8
            : group(pattern, "regexp_extract", text, found, (int) values[1]);
      };
    }
  },
  EXTRACT_ALL("RegExpExtractAll", 1) {
    @Override
    Ready prepare(String[] patterns) {
      LinearPattern pattern = LinearPattern.compile(patterns[0]);
      return (values, budget) -> {
        String text = values[0].toString();
        Pieces pieces = new Pieces(budget);
        each(
            text,
            0,
            start -> pattern.findGroups(text, 0, start, budget::work),
            found ->
                pieces.add(group(pattern, "regexp_extract_all", text, found, (int) values[1])));
        return pieces.array();
      };
    }
  },
  INSTR("RegExpInStr", 1) {
    @Override
    Ready prepare(String[] patterns) {
      LinearPattern pattern = LinearPattern.compile(patterns[0]);
      return (values, budget) -> {
        int[] found = pattern.find(values[0].toString(), 0, 0, budget::work);
        return found == null ? 0 : found[0] + 1;
      };
    }
  },
  SPLIT("StringSplit", 1) {
    @Override
    Ready prepare(String[] patterns) {
      LinearPattern pattern = LinearPattern.compile(patterns[0]);
      boolean isEmpty = patterns[0].isEmpty();
      return (values, budget) -> {
        int limit = (int) values[1];
        return split(isEmpty ? null : pattern, (UTF8String) values[0], limit, budget).array();
      };
    }
  },
  TO_MAP("StringToMap", 1, 2) {
    @Override
    Ready prepare(String[] patterns) {
      LinearPattern pairs = patterns[0].isEmpty() ? null : LinearPattern.compile(patterns[0]);
      LinearPattern values = patterns[1].isEmpty() ? null : LinearPattern.compile(patterns[1]);
      return (given, budget) -> {
        ArrayBasedMapBuilder map =
            new ArrayBasedMapBuilder(DataTypes.StringType, DataTypes.StringType);
        Pieces all = split(pairs, (UTF8String) given[0], -1, budget);
        budget.make(2 * all.size);
        for (UTF8String pair : all.all) {
          List<UTF8String> both = split(values, pair, 2, budget).all;
          map.put(both.get(0), both.size() < 2 ? null : both.get(1));
        }
        return map.build();
      };
    }
  };

  private final String spark;
  private final List<Integer> places;

  PatternFunction(String spark, Integer... places) {
    this.spark = spark;
    this.places = List.of(places);
  }

  /** A function whose patterns are compiled. */
  interface Ready {
    Object call(Object[] values, Budget budget);

    default boolean test(UTF8String text, Budget budget) {
      return (boolean) call(new Object[] {text}, budget);
    }
  }

  /** Compiles its patterns. */
  abstract Ready prepare(String[] patterns);

  static PatternFunction of(Expression expression) {
    for (PatternFunction function : values()) {
      if (function.spark.equals(KnownExpressions.name(expression))) {
        return function;
      }
    }
    throw new RefusedException(
        "Spark's expression "
            + KnownExpressions.name(expression)
            + " is not one that may run here.");
  }

  boolean takesPattern(int place) {
    return places.contains(place);
  }

  boolean isTest() {
    return this == RLIKE || this == LIKE;
  }

  private static UTF8String group(
      LinearPattern pattern, String name, String text, int[] found, int number) {
    RegExpExtractBase$.MODULE$.checkGroupIndex(name, pattern.groups(), number);
    int start = found[2 * number];
    return start < 0
        ? UTF8String.EMPTY_UTF8
        : UTF8String.fromString(text.substring(start, found[2 * number + 1]));
  }

  private static UTF8String replaced(
      LinearPattern pattern, UTF8String subject, String with, int position, Budget budget) {
    String text = subject.toString();
    int from = position - 1;
    boolean isOutside = from != 0 && from >= text.length();
    if (isOutside || (from == 0 && !pattern.test(text, budget::work))) {
      return subject;
    }
    Replacement replacement = new Replacement(with, pattern);
    StringBuilder out = new StringBuilder();
    int[] copied = {0};
    boolean isPlain = with.indexOf('$') < 0;
    each(
        text,
        from,
        start ->
            isPlain
                ? pattern.find(text, from, start, budget::work)
                : pattern.findGroups(text, from, start, budget::work),
        found -> {
          out.append(text, copied[0], found[0]);
          replacement.append(
              out,
              number ->
                  found[2 * number] < 0
                      ? null
                      : text.substring(found[2 * number], found[2 * number + 1]));
          copied[0] = found[1];
          refuseLarge(out.length());
        });
    out.append(text, copied[0], text.length());
    UTF8String result = UTF8String.fromString(out.toString());
    budget.make(result.numBytes());
    return result;
  }

  /**
   * A text cut at every match, at most so many pieces; without a pattern it is cut between its
   * characters.
   */
  private static Pieces split(LinearPattern pattern, UTF8String subject, int limit, Budget budget) {
    Pieces pieces = new Pieces(budget);
    String text = subject.toString();
    int copied = 0;
    int start = 0;
    while (start <= text.length() && (limit <= 0 || pieces.all.size() < limit - 1)) {
      int[] found =
          pattern == null ? between(text, start) : pattern.find(text, 0, start, budget::work);
      if (found == null) {
        break;
      }
      start = following(text, found);
      if (copied == 0 && found[1] == 0) {
        // Nothing at the beginning cuts off nothing.
        continue;
      }
      pieces.add(UTF8String.fromString(text.substring(copied, found[0])));
      copied = found[1];
    }
    pieces.add(UTF8String.fromString(text.substring(copied)));
    return pieces;
  }

  /** The next place between two characters, or null at the end. */
  private static int[] between(String text, int start) {
    return start < text.length() ? new int[] {start, start} : null;
  }

  private interface Finder {
    int[] find(int start);
  }

  private interface Taker {
    void take(int[] found);
  }

  /** Takes every match in a text, each after the last. */
  private static void each(String text, int from, Finder finder, Taker taker) {
    int start = from;
    while (start <= text.length()) {
      int[] found = finder.find(start);
      if (found == null) {
        return;
      }
      taker.take(found);
      start = following(text, found);
    }
  }

  /** Where the search goes on after a match: after one of nothing, a character further. */
  private static int following(String text, int[] found) {
    if (found[1] > found[0]) {
      return found[1];
    }
    return found[1]
        + (found[1] < text.length() ? Character.charCount(text.codePointAt(found[1])) : 1);
  }

  private static void refuseLarge(int length) {
    if (length > Budget.VALUE_BYTES) {
      Budget.current().make(length);
    }
  }

  /** Texts that a function makes one by one, each charged as it is made. */
  private static final class Pieces {
    private final List<UTF8String> all = new ArrayList<>();
    private final Budget budget;
    private long size;

    Pieces(Budget budget) {
      this.budget = budget;
    }

    void add(UTF8String piece) {
      size += piece.numBytes() + 3 * Sizes.SLOT;
      if (size > Budget.VALUE_BYTES) {
        budget.make(size);
      }
      all.add(piece);
    }

    GenericArrayData array() {
      budget.make(size);
      return new GenericArrayData(all.toArray());
    }
  }
}
