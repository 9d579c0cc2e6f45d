package weft.kernel.gate;

import java.util.List;
import java.util.Locale;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * How large the result of a function can become and how much work it is, told from its arguments
 * alone. Bounds are from above, and exact where a bound would turn away what is harmless.
 */
enum Model {
  /** As much work as there is to read, and nothing that is larger than an argument. */
  LINEAR {
    @Override
    void charge(Call call, Budget budget) {
      budget.work(call.sizes());
    }
  },
  /** All arguments, one after the other or side by side. */
  SUM {
    @Override
    void charge(Call call, Budget budget) {
      budget.make(call.sizes() + call.count() * Sizes.SLOT);
    }
  },
  REPEAT {
    @Override
    void charge(Call call, Budget budget) {
      budget.make(times(call.size(0), call.number(1)));
    }
  },
  /** An array of one value over and over. */
  COPIES {
    @Override
    void charge(Call call, Budget budget) {
      budget.make(times(call.size(0) + Sizes.SLOT, call.number(1)));
    }
  },
  REPLACE {
    @Override
    void charge(Call call, Budget budget) {
      long search = call.size(1);
      long more = Math.max(call.size(2) - search, 0);
      FIND.charge(call, budget);
      long bound = search == 0 ? call.size(0) : call.size(0) + times(more, call.size(0) / search);
      budget.make(
          bound <= Budget.VALUE_BYTES
              ? bound
              : call.size(0) + times(more, Texts.count(call.text(0), call.text(1))));
    }
  },
  PAD {
    @Override
    void charge(Call call, Budget budget) {
      UTF8String pad = call.text(2);
      long missing = call.number(1) - call.text(0).numChars();
      long fillings =
          pad.numBytes() == 0 ? 0 : Math.max(missing, 0) / Math.max(pad.numChars(), 1) + 1;
      budget.make(call.size(0) + times(pad.numBytes(), fillings));
    }
  },
  PAD_BYTES {
    @Override
    void charge(Call call, Budget budget) {
      budget.make(Math.max(call.number(1), 0));
    }
  },
  SPACE {
    @Override
    void charge(Call call, Budget budget) {
      budget.make(Math.max(call.number(0), 0));
    }
  },
  /** The elements of an array with texts between them, and a text in the place of nulls. */
  JOIN {
    @Override
    void charge(Call call, Budget budget) {
      long between = call.size(1) + (call.count() > 2 ? call.size(2) : 0);
      budget.make(call.size(0) + times(between, call.elements(0)));
    }
  },
  /** Texts, and elements of arrays, with a text between them. */
  CONCAT_WS {
    @Override
    void charge(Call call, Budget budget) {
      long pieces = 0;
      for (int at = 1; at < call.count(); at++) {
        pieces += call.type(at) instanceof ArrayType ? call.elements(at) : 1;
      }
      budget.make(call.sizes() + times(call.size(0), pieces));
    }
  },
  /** A format, whose fields can name any argument and ask for any width. */
  FORMAT {
    @Override
    void charge(Call call, Budget budget) {
      String format = call.text(0).toString();
      long widest = 64;
      for (int at = 1; at < call.count(); at++) {
        widest = Math.max(widest, call.size(at));
      }
      long fields = format.chars().filter(sign -> sign == '%').count();
      budget.make(times(fields, widest) + Texts.widths(format) + 4L * format.length());
    }
  },
  /** A number with so many places, or in a format. */
  DIGITS {
    @Override
    void charge(Call call, Budget budget) {
      boolean isFormat = Sizes.varies(call.type(1));
      budget.make(512 + 2 * Math.max(isFormat ? call.size(1) : call.number(1), 0));
    }
  },
  /** A text in which each character becomes two. */
  DOUBLE {
    @Override
    void charge(Call call, Budget budget) {
      budget.make(2 * call.size(0) + 64);
    }
  },
  /** A text in another alphabet, in which a character takes up to four bytes. */
  QUADRUPLE {
    @Override
    void charge(Call call, Budget budget) {
      budget.make(4 * call.size(0) + 64);
    }
  },
  /** A text cut into pieces by another. */
  PARTS {
    @Override
    void charge(Call call, Budget budget) {
      long pieces = call.size(1) == 0 ? 1 : call.size(0) / call.size(1) + 1;
      long each = 3 * Sizes.SLOT;
      budget.work(call.size(0));
      budget.make(
          call.size(0)
              + (times(pieces, each) <= Budget.VALUE_BYTES
                  ? times(pieces, each)
                  : times(Texts.count(call.text(0), call.text(1)) + 1, each)));
    }
  },
  /** A text cut into words, of which each may be one character. */
  WORDS {
    @Override
    void charge(Call call, Budget budget) {
      budget.work(32 * call.size(0));
      budget.make(call.size(0) * 2 * Sizes.SLOT);
    }
  },
  /** All whole numbers from one to another. */
  SEQUENCE {
    @Override
    void charge(Call call, Budget budget) {
      long start = call.number(0);
      long stop = call.number(1);
      long step = call.count() > 2 ? call.number(2) : 1;
      double length = step == 0 ? 1 : Math.abs(((double) stop - start) / step) + 1;
      budget.make(length > Budget.VALUE_BYTES ? Long.MAX_VALUE : (long) (length * Sizes.SLOT));
    }
  },
  /** An array with one more element, at a place that may lie far outside. */
  INSERT {
    @Override
    void charge(Call call, Budget budget) {
      long length = Math.max(call.elements(0), Math.abs(call.number(1))) + 1;
      budget.make(call.size(0) + call.size(2) + times(length, Sizes.SLOT));
    }
  },
  /** A map as an array of pairs. */
  ENTRIES {
    @Override
    void charge(Call call, Budget budget) {
      budget.make(call.size(0) * 4);
    }
  },
  /** A value as JSON, CSV or plain text. */
  WRITTEN {
    @Override
    void charge(Call call, Budget budget) {
      int last = call.count() - 1;
      budget.make(TextSizes.of(call.value(last), call.type(last)));
    }
  },
  /** A value of the result's type, parsed from a text. */
  PARSED {
    @Override
    void charge(Call call, Budget budget) {
      UTF8String text = call.text(0);
      long each = Sizes.widestElement(call.result());
      long elements = each == 0 ? 0 : Texts.openings(text);
      budget.work(call.size(0) + times(call.size(0), Texts.longestNumber(text)) / 64);
      budget.make(2 * call.size(0) + Sizes.empty(call.result()) + times(elements, each));
    }
  },
  /** The keys of a JSON object. */
  KEYS {
    @Override
    void charge(Call call, Budget budget) {
      budget.make(call.size(0) + times(Texts.openings(call.text(0)), 3 * Sizes.SLOT));
    }
  },
  /** Every place of one text against every place of another. */
  PRODUCT {
    @Override
    void charge(Call call, Budget budget) {
      budget.work(times(call.size(0) + 1, call.size(1) + 1));
    }
  },
  /** A text looked for in another, at every place and eight bytes at a time. */
  FIND {
    @Override
    void charge(Call call, Budget budget) {
      budget.work(call.size(0) + call.size(1) + times(call.size(0), call.size(1)) / 8);
    }
  },
  /** Two arrays, or one with itself; elements that have no hash are compared each with each. */
  SETS {
    @Override
    void charge(Call call, Budget budget) {
      long total = call.sizes();
      DataType element = ((ArrayType) call.type(0)).elementType();
      long pairs = times(call.elements(0), call.elements(call.count() - 1));
      budget.work(
          isHashed(element) ? total : times(pairs, 1 + total / Math.max(call.elements(0), 1)));
      budget.make(total);
    }
  },
  /** A number read digit by digit, which takes the square of their count. */
  NUMBER {
    @Override
    void charge(Call call, Budget budget) {
      budget.work(times(call.size(0), call.size(0)) / 64);
    }
  },
  /**
   * A part of bytes; a length so negative that Spark's arithmetic overflows would ask for two
   * gigabytes.
   */
  SLICE {
    @Override
    void charge(Call call, Budget budget) {
      if (Math.min(call.number(1), 0) + Math.min(call.number(2), 0) < Integer.MIN_VALUE) {
        throw new TooMuchException(
            "[VALUE_TOO_LARGE] No bytes have a length of " + call.number(2) + ".");
      }
    }
  };

  /** Charges a call, none of whose needed arguments is null; throws if it is too much. */
  abstract void charge(Call call, Budget budget);

  /** The model of this name, as the table of expressions writes it. */
  static Model named(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT).replace(' ', '_'));
  }

  private static boolean isHashed(DataType element) {
    return !Sizes.varies(element) || element instanceof org.apache.spark.sql.types.StringType;
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

  /** An expression with the values of its arguments. */
  record Call(Expression expression, List<DataType> types, Object[] values) {
    int count() {
      return values.length;
    }

    Object value(int at) {
      return values[at];
    }

    DataType type(int at) {
      return types.get(at);
    }

    DataType result() {
      return expression.dataType();
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
      return values[at] instanceof org.apache.spark.sql.catalyst.util.ArrayData array
          ? array.numElements()
          : 0;
    }

    long number(int at) {
      return values[at] instanceof Number number ? number.longValue() : 0;
    }

    UTF8String text(int at) {
      return values[at] instanceof UTF8String text ? text : UTF8String.EMPTY_UTF8;
    }
  }
}
