package weft.kernel.sink;

import weft.kernel.bytes.ByteSink;

/**
 * Dates and times as sinks write them: ISO 8601 in the years 1 to 9999, and beyond these the text
 * that Arrow has for them, which Python has no value for.
 */
final class JsonTime {
  private static final long DAY_US = 86_400_000_000L;
  private static final long SECOND_US = 1_000_000L;
  private static final int FIRST_YEAR = 1;
  private static final int LAST_YEAR = 9999;
  private static final int FARTHEST_YEAR = 32_767;
  private static final int DAYS_OF_400_YEARS = 146_097;

  /** From the first of March of the year 0 to the beginning of 1970. */
  private static final int EPOCH = 719_468;

  private JsonTime() {}

  static boolean isIso(long days) {
    int year = year(days);
    return year >= FIRST_YEAR && year <= LAST_YEAR;
  }

  static boolean isIsoTime(long micros) {
    return isIso(Math.floorDiv(micros, DAY_US));
  }

  static void putDate(ByteSink out, long days) {
    if (Math.abs(year(days)) > FARTHEST_YEAR) {
      putOutOfRange(out, days);
    } else {
      putDate(out, days, year(days));
    }
  }

  static void putTime(ByteSink out, long micros, boolean isUtc) {
    long days = Math.floorDiv(micros, DAY_US);
    int year = year(days);
    boolean isIso = year >= FIRST_YEAR && year <= LAST_YEAR;
    if (!isUtc && Math.abs(year) > FARTHEST_YEAR) {
      putOutOfRange(out, micros);
      return;
    }
    // Of a time with a zone, Arrow writes a year in sixteen bits, however far it is.
    putDate(out, days, (short) year);
    long left = Math.floorMod(micros, DAY_US);
    long seconds = left / SECOND_US;
    out.putByte(isIso ? 'T' : ' ');
    JsonText.putDigits(out, seconds / 3600, 2);
    out.putByte(':');
    JsonText.putDigits(out, seconds / 60 % 60, 2);
    out.putByte(':');
    JsonText.putDigits(out, seconds % 60, 2);
    if (left % SECOND_US != 0 || !isIso) {
      out.putByte('.');
      JsonText.putDigits(out, left % SECOND_US, 6);
    }
    if (isUtc) {
      out.putByte('Z');
    }
  }

  private static void putOutOfRange(ByteSink out, long value) {
    JsonText.put(out, JsonText.ascii("<value out of range: " + value + ">"));
  }

  private static void putDate(ByteSink out, long days, int year) {
    if (year < 0) {
      out.putByte('-');
    }
    JsonText.putDigits(out, Math.abs(year), 4);
    long march = dayOfMarchYear(days);
    long month = (5 * march + 2) / 153;
    out.putByte('-');
    JsonText.putDigits(out, month < 10 ? month + 3 : month - 9, 2);
    out.putByte('-');
    JsonText.putDigits(out, march - (153 * month + 2) / 5 + 1, 2);
  }

  private static int year(long days) {
    long shifted = days + EPOCH;
    long century = Math.floorDiv(shifted, DAYS_OF_400_YEARS);
    long day = Math.floorMod(shifted, DAYS_OF_400_YEARS);
    long year = yearOf(day);
    // A year that begins in March ends in the next one: its last two months are of that.
    boolean isNext = dayOfYear(day, year) >= 306;
    return (int) (year + century * 400 + (isNext ? 1 : 0));
  }

  private static long dayOfMarchYear(long days) {
    long day = Math.floorMod(days + EPOCH, DAYS_OF_400_YEARS);
    return dayOfYear(day, yearOf(day));
  }

  private static long yearOf(long day) {
    return (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
  }

  private static long dayOfYear(long day, long year) {
    return day - (365 * year + year / 4 - year / 100);
  }
}
