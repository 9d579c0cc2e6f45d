package weft.kernel.gate;

import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * How large the result of a function can become and how much work it is, told from its arguments
 * alone. Bounds are from above, and exact where a bound would turn away what is harmless.
 */
public enum Model {
  /** As much work as there is to read, and nothing that is larger than an argument. */
  LINEAR {
    @Override
    public void charge(Arguments given, Budget budget) {
      budget.work(given.sizes());
    }
  },
  /** All arguments, one after the other or side by side. */
  SUM {
    @Override
    public void charge(Arguments given, Budget budget) {
      budget.make(given.sizes() + given.count() * Sizes.SLOT);
    }
  },
  /** A map, of which each key is looked up before it is put in. */
  MAP {
    @Override
    public void charge(Arguments given, Budget budget) {
      long entries = given.count();
      for (int at = 0; at < given.count(); at++) {
        entries += given.elements(at);
      }
      budget.work(times(entries, UNITS_PER_ENTRY));
      SUM.charge(given, budget);
    }
  },
  REPEAT {
    @Override
    public void charge(Arguments given, Budget budget) {
      budget.make(times(given.size(0), given.number(1)));
    }
  },
  /** An array of one value over and over. */
  COPIES {
    @Override
    public void charge(Arguments given, Budget budget) {
      budget.make(times(given.size(0) + Sizes.SLOT, given.number(1)));
    }
  },
  REPLACE {
    @Override
    public void charge(Arguments given, Budget budget) {
      long search = given.size(1);
      long more = Math.max(given.size(2) - search, 0);
      FIND.charge(given, budget);
      long bound =
          search == 0 ? given.size(0) : given.size(0) + times(more, given.size(0) / search);
      budget.make(
          bound <= Budget.VALUE_BYTES
              ? bound
              : given.size(0) + times(more, Texts.count(given.text(0), given.text(1))));
    }
  },
  PAD {
    @Override
    public void charge(Arguments given, Budget budget) {
      UTF8String pad = given.text(2);
      long missing = given.number(1) - given.text(0).numChars();
      long fillings =
          pad.numBytes() == 0 ? 0 : Math.max(missing, 0) / Math.max(pad.numChars(), 1) + 1;
      budget.make(given.size(0) + times(pad.numBytes(), fillings));
    }
  },
  PAD_BYTES {
    @Override
    public void charge(Arguments given, Budget budget) {
      budget.make(Math.max(given.number(1), 0));
    }
  },
  SPACE {
    @Override
    public void charge(Arguments given, Budget budget) {
      budget.make(Math.max(given.number(0), 0));
    }
  },
  /** The elements of an array with texts between them, and a text in the place of nulls. */
  JOIN {
    @Override
    public void charge(Arguments given, Budget budget) {
      long between = given.size(1) + (given.count() > 2 ? given.size(2) : 0);
      budget.make(given.size(0) + times(between, given.elements(0)));
    }
  },
  /** Texts, and elements of arrays, with a text between them. */
  CONCAT_WS {
    @Override
    public void charge(Arguments given, Budget budget) {
      long pieces = 0;
      for (int at = 1; at < given.count(); at++) {
        pieces += given.type(at) instanceof ArrayType ? given.elements(at) : 1;
      }
      budget.make(given.sizes() + times(given.size(0), pieces));
    }
  },
  /** A format, whose fields can name any argument and ask for any width. */
  FORMAT {
    @Override
    public void charge(Arguments given, Budget budget) {
      String format = given.text(0).toString();
      long widest = 64;
      for (int at = 1; at < given.count(); at++) {
        widest = Math.max(widest, given.size(at));
      }
      long fields = format.chars().filter(sign -> sign == '%').count();
      budget.make(times(fields, widest) + Texts.widths(format) + 4L * format.length());
    }
  },
  /** A number with so many places, or in a format. */
  DIGITS {
    @Override
    public void charge(Arguments given, Budget budget) {
      boolean isFormat = Sizes.varies(given.type(1));
      budget.make(512 + 2 * Math.max(isFormat ? given.size(1) : given.number(1), 0));
    }
  },
  /** A text in which each character becomes two. */
  DOUBLE {
    @Override
    public void charge(Arguments given, Budget budget) {
      budget.make(2 * given.size(0) + 64);
    }
  },
  /** A text in another alphabet, in which a character takes up to four bytes. */
  QUADRUPLE {
    @Override
    public void charge(Arguments given, Budget budget) {
      budget.make(4 * given.size(0) + 64);
    }
  },
  /** A text cut into pieces by another. */
  PARTS {
    @Override
    public void charge(Arguments given, Budget budget) {
      long pieces = given.size(1) == 0 ? 1 : given.size(0) / given.size(1) + 1;
      long each = 3 * Sizes.SLOT;
      budget.work(given.size(0));
      budget.make(
          given.size(0)
              + (times(pieces, each) <= Budget.VALUE_BYTES
                  ? times(pieces, each)
                  : times(Texts.count(given.text(0), given.text(1)) + 1, each)));
    }
  },
  /** A text cut into words, of which each may be one character. */
  WORDS {
    @Override
    public void charge(Arguments given, Budget budget) {
      budget.work(32 * given.size(0));
      budget.make(given.size(0) * 2 * Sizes.SLOT);
    }
  },
  /** All whole numbers from one to another. */
  SEQUENCE {
    @Override
    public void charge(Arguments given, Budget budget) {
      long start = given.number(0);
      long stop = given.number(1);
      long step = given.count() > 2 ? given.number(2) : 1;
      double length = step == 0 ? 1 : Math.abs(((double) stop - start) / step) + 1;
      budget.make(length > Budget.VALUE_BYTES ? Long.MAX_VALUE : (long) (length * Sizes.SLOT));
    }
  },
  /** An array with one more element, at a place that may lie far outside. */
  INSERT {
    @Override
    public void charge(Arguments given, Budget budget) {
      long length = Math.max(given.elements(0), Math.abs(given.number(1))) + 1;
      budget.make(given.size(0) + given.size(2) + times(length, Sizes.SLOT));
    }
  },
  /** A map as an array of pairs. */
  ENTRIES {
    @Override
    public void charge(Arguments given, Budget budget) {
      budget.make(given.size(0) * 4);
    }
  },
  /** A value as JSON, CSV or plain text. */
  WRITTEN {
    @Override
    public void charge(Arguments given, Budget budget) {
      int last = given.count() - 1;
      budget.make(TextSizes.of(given.value(last), given.type(last)));
    }
  },
  /** A value of the result's type, parsed from a text. */
  PARSED {
    @Override
    public void charge(Arguments given, Budget budget) {
      UTF8String text = given.text(0);
      long each = Sizes.widestElement(given.result());
      long elements = each == 0 ? 0 : Texts.openings(text);
      budget.work(given.size(0) + times(given.size(0), Texts.longestNumber(text)) / 64);
      budget.make(2 * given.size(0) + Sizes.empty(given.result()) + times(elements, each));
    }
  },
  /** The keys of a JSON object. */
  KEYS {
    @Override
    public void charge(Arguments given, Budget budget) {
      budget.make(given.size(0) + times(Texts.openings(given.text(0)), 3 * Sizes.SLOT));
    }
  },
  /** Every place of one text against every place of another. */
  PRODUCT {
    @Override
    public void charge(Arguments given, Budget budget) {
      budget.work(times(given.size(0) + 1, given.size(1) + 1));
    }
  },
  /** A text looked for in another, at every place and eight bytes at a time. */
  FIND {
    @Override
    public void charge(Arguments given, Budget budget) {
      budget.work(given.size(0) + given.size(1) + times(given.size(0), given.size(1)) / 8);
    }
  },
  /** Two arrays, or one with itself; elements that have no hash are compared each with each. */
  SETS {
    @Override
    public void charge(Arguments given, Budget budget) {
      long total = given.sizes();
      DataType element = ((ArrayType) given.type(0)).elementType();
      long pairs = times(given.elements(0), given.elements(given.count() - 1));
      budget.work(
          isHashed(element) ? total : times(pairs, 1 + total / Math.max(given.elements(0), 1)));
      budget.make(total);
    }
  },
  /** A number read digit by digit, which takes the square of their count. */
  NUMBER {
    @Override
    public void charge(Arguments given, Budget budget) {
      budget.work(times(given.size(0), given.size(0)) / 64);
    }
  },
  /**
   * A part of bytes; a length so negative that Spark's arithmetic overflows would ask for two
   * gigabytes.
   */
  SLICE {
    @Override
    public void charge(Arguments given, Budget budget) {
      if (Math.min(given.number(1), 0) + Math.min(given.number(2), 0) < Integer.MIN_VALUE) {
        throw new TooMuchException(
            "[VALUE_TOO_LARGE] No bytes have a length of " + given.number(2) + ".");
      }
    }
  };

  private static final long UNITS_PER_ENTRY = 256;

  /** Charges a call, none of whose needed arguments is null; throws if it is too much. */
  public abstract void charge(Arguments given, Budget budget);

  /** The model of this name, as the table of expressions writes it. */
  public static Model named(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT).replace(' ', '_'));
  }

  private static boolean isHashed(DataType element) {
    return !Sizes.varies(element) || element instanceof StringType;
  }

  /**
   * A product that stays at the highest number instead of overflowing; nothing is taken less than
   * no times.
   */
  static long times(long one, long two) {
    if (one <= 0 || two <= 0) {
      return 0;
    }
    return one > Long.MAX_VALUE / two ? Long.MAX_VALUE : one * two;
  }

  /** The values that a function is called with, their types, and the type of its result. */
  public record Arguments(Supplier<DataType> resultType, List<DataType> types, Object[] values) {
    DataType result() {
      return resultType.get();
    }

    int count() {
      return values.length;
    }

    Object value(int at) {
      return values[at];
    }

    DataType type(int at) {
      return types.get(at);
    }

    long size(int at) {
      return at < values.length ? Sizes.of(values[at], types.get(at)) : 0;
    }

    long sizes() {
      long sum = 0;
      for (int at = 0; at < values.length; at++) {
        sum += size(at);
      }
      return sum;
    }

    long elements(int at) {
      if (values[at] instanceof MapData map) {
        return map.numElements();
      }
      return values[at] instanceof ArrayData array ? array.numElements() : 0;
    }

    long number(int at) {
      return values[at] instanceof Number number ? number.longValue() : 0;
    }

    UTF8String text(int at) {
      return values[at] instanceof UTF8String text ? text : UTF8String.EMPTY_UTF8;
    }
  }
}
