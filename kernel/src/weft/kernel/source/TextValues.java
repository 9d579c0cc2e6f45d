package weft.kernel.source;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Base64;
import java.util.Locale;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.spark.DateText;

/**
 * Texts to Spark's internal values: the rules that JSON strings, JSON numbers and CSV fields share.
 */
final class TextValues {
  private static final long MIN_MICROS = -62_135_596_800_000_000L; // 0001-01-01T00:00:00Z
  private static final long MAX_MICROS = 253_402_300_799_999_999L; // the last microsecond of 9999
  static final long MICROS_PER_DAY = 86_400_000_000L;

  private static final String TIMESTAMP = "timestamp (years 1 to 9999)";

  private TextValues() {}

  /** The reader for a type that is not nested. */
  static TextValue reader(DataType type) {
    String name = type.catalogString();
    if (type instanceof StringType) {
      return UTF8String::fromString;
    } else if (type instanceof BooleanType) {
      return text -> bool(text, name);
    } else if (type instanceof DoubleType) {
      return text -> floating(text, name);
    } else if (type instanceof FloatType) {
      return text -> single(floating(text, name), name, text);
    } else if (type instanceof DecimalType decimal) {
      return text -> decimal(number(text, name), decimal);
    } else if (type instanceof DateType) {
      return TextValues::date;
    } else if (type instanceof TimestampType || type instanceof TimestampNTZType) {
      return TextValues::timestamp;
    } else if (type instanceof BinaryType) {
      return TextValues::binary;
    }
    return text -> integral(number(text, name), type);
  }

  /** An exact integer as the boxed value of an integral type. */
  static Object integral(BigDecimal number, DataType type) throws BadRecord {
    try {
      return integral(number.longValueExact(), type);
    } catch (ArithmeticException inexact) {
      throw number.scale() > 0 && number.stripTrailingZeros().scale() > 0
          ? BadRecord.expected(type.catalogString(), number.toString())
          : BadRecord.outOfRange(type.catalogString(), number.toString());
    }
  }

  /** A long as the boxed value of an integral type. */
  static Object integral(long number, DataType type) throws BadRecord {
    if (type instanceof LongType) {
      return number;
    } else if (type instanceof IntegerType && (int) number == number) {
      return (int) number;
    } else if (type instanceof ShortType && (short) number == number) {
      return (short) number;
    } else if (type instanceof ByteType && (byte) number == number) {
      return (byte) number;
    }
    throw BadRecord.outOfRange(type.catalogString(), Long.toString(number));
  }

  /** A number as a decimal: digits beyond the scale are rounded half up, as SQL casts do. */
  static Decimal decimal(BigDecimal number, DecimalType type) throws BadRecord {
    // Both guards keep setScale from writing out the digits of numbers such as 1e999999999.
    if (number.signum() != 0
        && number.precision() - (long) number.scale() > type.precision() - type.scale()) {
      throw BadRecord.outOfRange(type.catalogString(), number.toString());
    }
    boolean tiny = number.scale() - (long) number.precision() > type.scale();
    BigDecimal rounded =
        (tiny ? BigDecimal.ZERO : number).setScale(type.scale(), RoundingMode.HALF_UP);
    if (rounded.precision() > type.precision()) {
      throw BadRecord.outOfRange(type.catalogString(), number.toString());
    }
    return type.precision() <= Decimal.MAX_LONG_DIGITS()
        ? Decimal.createUnsafe(
            rounded.unscaledValue().longValue(), type.precision(), type.scale())
        : Decimal.apply(rounded, type.precision(), type.scale());
  }

  /** A double as a float, unless it is too large for one. */
  static float single(double number, String type, String text) throws BadRecord {
    float narrow = (float) number;
    if (Float.isInfinite(narrow) && !Double.isInfinite(number)) {
      throw BadRecord.outOfRange(type, text);
    }
    return narrow;
  }

  /** Milliseconds since 1970 as microseconds. */
  static long millis(BigDecimal number) throws BadRecord {
    return micros(number, 3);
  }

  /** A time since 1970 as microseconds, of which one unit has ten to the power {@code digits}. */
  static long micros(BigDecimal number, int digits) throws BadRecord {
    if (number.precision() - (long) number.scale() + digits > 18) {
      throw BadRecord.outOfRange(TIMESTAMP, number.toString());
    }
    return inRange(number.movePointRight(digits).longValue(), number.toString());
  }

  static BigDecimal number(String text, String type) throws BadRecord {
    try {
      return new BigDecimal(text.trim());
    } catch (NumberFormatException e) {
      throw BadRecord.expected(type, quote(text));
    }
  }

  static String quote(String text) {
    return '"' + text + '"';
  }

  private static boolean bool(String text, String type) throws BadRecord {
    return switch (text.trim().toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw BadRecord.expected(type, quote(text));
    };
  }

  private static double floating(String text, String type) throws BadRecord {
    switch (text.trim()) {
      case "NaN":
        return Double.NaN;
      case "Infinity":
        return Double.POSITIVE_INFINITY;
      case "-Infinity":
        return Double.NEGATIVE_INFINITY;
      default:
        double number = number(text, type).doubleValue();
        if (Double.isInfinite(number)) {
          throw BadRecord.outOfRange(type, text);
        }
        return number;
    }
  }

  private static Object date(String text) throws BadRecord {
    UTF8String trimmed = UTF8String.fromString(text.trim());
    Integer days = beginsWithDate(trimmed) ? DateText.days(trimmed) : null;
    if (days == null) {
      throw BadRecord.expected("date", quote(text)).hint("write 2026-01-31");
    }
    return days(days, text);
  }

  /** Days since 1970, unless they are outside of the years that a date has. */
  static int days(long days, String text) throws BadRecord {
    if (days < MIN_MICROS / MICROS_PER_DAY || days > MAX_MICROS / MICROS_PER_DAY) {
      throw BadRecord.outOfRange("date (years 1 to 9999)", text);
    }
    return (int) days;
  }

  private static Object timestamp(String text) throws BadRecord {
    long plain = IsoTime.micros(text);
    if (plain != IsoTime.NONE) {
      return plain;
    }
    String trimmed = text.trim();
    if (!trimmed.isEmpty() && trimmed.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return millis(new BigDecimal(trimmed));
    }
    UTF8String bytes = UTF8String.fromString(trimmed);
    Long micros = beginsWithDate(bytes) ? DateText.micros(bytes) : null;
    if (micros == null) {
      throw BadRecord.expected("timestamp", quote(text))
          .hint("write 2026-01-31T12:00:00Z or milliseconds since 1970");
    }
    return inRange(micros, text);
  }

  /** Spark's own parser also takes a bare time, which it completes with today's date. */
  private static boolean beginsWithDate(UTF8String text) {
    return text.numBytes() >= 10 && text.getByte(4) == '-' && text.getByte(7) == '-';
  }

  /** Microseconds since 1970, unless they are outside of the years that a timestamp has. */
  static long inRange(long micros, String text) throws BadRecord {
    if (micros < MIN_MICROS || micros > MAX_MICROS) {
      throw BadRecord.outOfRange(TIMESTAMP, text);
    }
    return micros;
  }

  static byte[] binary(String text) throws BadRecord {
    try {
      return Base64.getDecoder().decode(text.trim());
    } catch (IllegalArgumentException e) {
      throw BadRecord.expected("binary (base64)", quote(text));
    }
  }
}
