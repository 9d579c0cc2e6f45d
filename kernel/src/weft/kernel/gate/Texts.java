package weft.kernel.gate;

import org.apache.spark.unsafe.types.UTF8String;

/** Countings of texts, one byte at a time. */
final class Texts {
  private static final int ESCAPE = "\\u0000".length();

  private Texts() {}

  /** How often one text is found in another, each time after the last. */
  static long count(UTF8String text, UTF8String part) {
    long found = 0;
    if (part.numBytes() > 0) {
      for (int at = text.find(part, 0); at >= 0; at = text.find(part, at + part.numBytes())) {
        found++;
      }
    }
    return found;
  }

  /** The characters that the fields of a format ask for by their widths and precisions. */
  static long widths(String format) {
    long sum = 0;
    for (int field = format.indexOf('%'); field >= 0; field = format.indexOf('%', field + 1)) {
      long number = 0;
      for (int at = field + 1;
          at < format.length() && "0123456789$-#+ ,(<.".indexOf(format.charAt(at)) >= 0;
          at++) {
        char sign = format.charAt(at);
        sum += sign == '$' || Character.isDigit(sign) ? 0 : number;
        number =
            Character.isDigit(sign) ? Math.min(number * 10 + sign - '0', Integer.MAX_VALUE) : 0;
      }
      sum += number;
    }
    return sum;
  }

  /**
   * The bytes of a text in which quotes, backslashes and control characters are written as escapes.
   */
  static long escaped(UTF8String text) {
    long size = text.numBytes();
    for (int at = 0; at < text.numBytes(); at++) {
      byte sign = text.getByte(at);
      size += (sign >= 0 && sign < ' ') || sign == '"' || sign == '\\' ? ESCAPE - 1 : 0;
    }
    return size;
  }

  /**
   * How many elements, objects and arrays a JSON text can have: its commas and opening brackets.
   */
  static long openings(UTF8String text) {
    long found = 1;
    for (int at = 0; at < text.numBytes(); at++) {
      byte sign = text.getByte(at);
      found += sign == ',' || sign == '{' || sign == '[' ? 1 : 0;
    }
    return found;
  }

  /** The length of the longest run of digits. */
  static long longestNumber(UTF8String text) {
    long longest = 0;
    long length = 0;
    for (int at = 0; at < text.numBytes(); at++) {
      byte sign = text.getByte(at);
      length = sign >= '0' && sign <= '9' ? length + 1 : 0;
      longest = Math.max(longest, length);
    }
    return longest;
  }
}
