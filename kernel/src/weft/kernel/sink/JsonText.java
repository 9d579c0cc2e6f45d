package weft.kernel.sink;

import com.fasterxml.jackson.core.io.NumberOutput;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.unsafe.Platform;
import weft.kernel.bytes.ByteSink;

/**
 * Texts and numbers as the JSON that sinks write: the shortest digits that tell a number from all
 * others, UTF-8 as it is, and bytes that are no UTF-8 replaced.
 */
final class JsonText {
  private static final byte[] HEX = ascii("0123456789abcdef");
  private static final byte[] REPLACEMENT = {(byte) 0xef, (byte) 0xbf, (byte) 0xbd};
  private static final byte[] LEAST = ascii("-9223372036854775808");
  private static final int MOST_DIGITS = 20;

  /** Beyond these powers of ten a number has an exponent. */
  private static final int LEAST_PLAIN = -5;

  private static final int MOST_PLAIN = 16;

  /** Below this a double has so few bits that one digit may do where Java writes two. */
  private static final double FEW_BITS = 1e-320;

  /** Of two numbers with so many digits at most, no one is written as the other. */
  private static final double EXACT = 1e15;

  private static final int THOUSAND = 1000;

  private JsonText() {}

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  static void put(ByteSink out, byte[] bytes) {
    out.putBytes(bytes, 0, bytes.length);
  }

  /** A name or another short text in quotes. */
  static byte[] quoted(String text) {
    ByteSink out = new ByteSink();
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    putQuoted(out, bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length);
    return Arrays.copyOf(out.bytes(), out.size());
  }

  /** Text in quotes, with what JSON does not let stand in them escaped. */
  static void putQuoted(ByteSink out, Object base, long offset, int length) {
    out.putByte('"');
    putText(out, base, offset, length, true);
    out.putByte('"');
  }

  /** Text as it is, but for bytes that are none. */
  static void putRaw(ByteSink out, Object base, long offset, int length) {
    putText(out, base, offset, length, false);
  }

  private static void putText(
      ByteSink out, Object base, long offset, int length, boolean isEscaped) {
    int copied = 0;
    int at = 0;
    while (at < length) {
      int one = Platform.getByte(base, offset + at);
      if (one >= ' ' && (!isEscaped || (one != '"' && one != '\\'))) {
        at++;
        continue;
      }
      int sequence = one < 0 ? sequence(base, offset, at, length) : isEscaped ? 0 : 1;
      if (sequence > 0) {
        at += sequence;
        continue;
      }
      out.putMemory(base, offset + copied, at - copied);
      if (sequence < 0) {
        put(out, REPLACEMENT);
        at -= sequence;
      } else {
        putEscaped(out, one);
        at++;
      }
      copied = at;
    }
    out.putMemory(base, offset + copied, length - copied);
  }

  private static void putEscaped(ByteSink out, int one) {
    out.putByte('\\');
    switch (one) {
      case '"', '\\' -> out.putByte(one);
      case '\b' -> out.putByte('b');
      case '\t' -> out.putByte('t');
      case '\n' -> out.putByte('n');
      case '\f' -> out.putByte('f');
      case '\r' -> out.putByte('r');
      default -> {
        out.putByte('u');
        out.putByte('0');
        out.putByte('0');
        out.putByte(HEX[one >> 4]);
        out.putByte(HEX[one & 0xf]);
      }
    }
  }

  /**
   * The bytes of the character that begins here; of none, those that could have begun one, as a
   * negative number.
   */
  private static int sequence(Object base, long offset, int at, int length) {
    int lead = Platform.getByte(base, offset + at) & 0xff;
    int wanted = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
    int least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    int most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (wanted == 1) {
      return -1;
    }
    for (int read = 1; read < wanted; read++) {
      if (at + read == length) {
        return -read;
      }
      int next = Platform.getByte(base, offset + at + read) & 0xff;
      if (next < least || next > most) {
        return -read;
      }
      least = 0x80;
      most = 0xbf;
    }
    return wanted;
  }

  static void putLong(ByteSink out, long value) {
    if (value == Long.MIN_VALUE) {
      put(out, LEAST);
      return;
    }
    if (value < 0) {
      out.putByte('-');
    }
    putDigits(out, Math.abs(value), 1);
  }

  /** A number that is not negative, with zeros before it up to so many digits. */
  static void putDigits(ByteSink out, long value, int least) {
    byte[] digits = new byte[MOST_DIGITS];
    int at = MOST_DIGITS;
    long rest = value;
    while (rest > 0 || MOST_DIGITS - at < least) {
      digits[--at] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    out.putBytes(digits, at, MOST_DIGITS - at);
  }

  /** A finite number, always with a point or an exponent. */
  static void putDouble(ByteSink out, double value) {
    double size = Math.abs(value);
    if (Double.doubleToRawLongBits(value) < 0) {
      out.putByte('-');
    }
    double thousandths = Math.rint(size * THOUSAND);
    if (thousandths < EXACT && thousandths / THOUSAND == size) {
      putThousandths(out, (long) thousandths);
      return;
    }
    // As in 123.45, 1.2345E-7: the digits, and how many of them stand before the point.
    String text = NumberOutput.toString(size, true);
    int mark = text.indexOf('E');
    String mantissa = mark < 0 ? text : text.substring(0, mark);
    int point = mantissa.indexOf('.') + (mark < 0 ? 0 : Integer.parseInt(text.substring(mark + 1)));
    String all = mantissa.replace(".", "");
    int from = 0;
    int to = all.length();
    while (all.charAt(from) == '0') {
      from++;
    }
    while (all.charAt(to - 1) == '0') {
      to--;
    }
    point -= from;
    String digits = all.substring(from, to);
    if (size < FEW_BITS && digits.length() == 2) {
      String rounded = String.valueOf((Integer.parseInt(digits) + 5) / 10);
      if (Double.parseDouble("0." + rounded + "E" + (point + rounded.length() - 1)) == size) {
        point += rounded.length() - 1;
        digits = rounded.substring(0, 1);
      }
    }
    putDecimal(out, digits, point);
  }

  /** Up to three digits behind the point, and one at least. */
  private static void putThousandths(ByteSink out, long value) {
    putDigits(out, value / THOUSAND, 1);
    out.putByte('.');
    int fraction = (int) (value % THOUSAND);
    out.putByte('0' + fraction / 100);
    if (fraction % 100 != 0) {
      out.putByte('0' + fraction / 10 % 10);
    }
    if (fraction % 10 != 0) {
      out.putByte('0' + fraction % 10);
    }
  }

  private static void putDecimal(ByteSink out, String digits, int point) {
    byte[] all = ascii(digits);
    int power = point - 1;
    if (power < LEAST_PLAIN || power >= MOST_PLAIN) {
      out.putByte(all[0]);
      if (all.length > 1) {
        out.putByte('.');
        out.putBytes(all, 1, all.length - 1);
      }
      out.putByte('e');
      out.putByte(power < 0 ? '-' : '+');
      putDigits(out, Math.abs(power), 1);
    } else if (point <= 0) {
      out.putByte('0');
      out.putByte('.');
      putZeros(out, -point);
      put(out, all);
    } else if (all.length <= point) {
      put(out, all);
      putZeros(out, point - all.length);
      out.putByte('.');
      out.putByte('0');
    } else {
      out.putBytes(all, 0, point);
      out.putByte('.');
      out.putBytes(all, point, all.length - point);
    }
  }

  private static void putZeros(ByteSink out, int count) {
    for (int i = 0; i < count; i++) {
      out.putByte('0');
    }
  }
}
