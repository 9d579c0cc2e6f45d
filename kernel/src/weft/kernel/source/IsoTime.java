package weft.kernel.source;

/**
 * Reads times in the form in which most programs write them, 2026-01-31T12:00:00.123Z, without an
 * object or a search for a zone. Other forms are for {@link weft.kernel.spark.DateText}.
 */
final class IsoTime {
  /** What {@link #micros} says of a text in another form, or of no time. */
  static final long NONE = Long.MIN_VALUE;

  private static final int SECONDS_END = 19;
  private static final int MOST_DIGITS = 6;
  private static final int[] LENGTHS = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

  private IsoTime() {}

  /** The microseconds since 1970 in UTC that a text says, with or without a Z at its end. */
  static long micros(String text) {
    int end = text.length();
    if (end > SECONDS_END && text.charAt(end - 1) == 'Z') {
      end--;
    }
    if (end < SECONDS_END
        || text.charAt(4) != '-'
        || text.charAt(7) != '-'
        || (text.charAt(10) != 'T' && text.charAt(10) != ' ')
        || text.charAt(13) != ':'
        || text.charAt(16) != ':') {
      return NONE;
    }
    int year = number(text, 0, 4);
    int month = number(text, 5, 7);
    int day = number(text, 8, 10);
    int hour = number(text, 11, 13);
    int minute = number(text, 14, 16);
    int second = number(text, 17, SECONDS_END);
    int fraction = fraction(text, end);
    boolean isDay = year > 0 && month > 0 && month <= 12 && day > 0 && day <= days(year, month);
    boolean isTime = hour >= 0 && hour < 24 && minute >= 0 && minute < 60;
    if (!isDay || !isTime || second < 0 || second >= 60 || fraction < 0) {
      return NONE;
    }
    long seconds = epochDay(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    return seconds * 1_000_000 + fraction;
  }

  /** The digits between two places as a number, negative if there is anything else. */
  private static int number(String text, int from, int to) {
    int number = 0;
    for (int i = from; i < to; i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = number * 10 + digit;
    }
    return number;
  }

  /** The microseconds behind the seconds, negative if that is not what stands there. */
  private static int fraction(String text, int end) {
    if (end == SECONDS_END) {
      return 0;
    }
    int digits = end - SECONDS_END - 1;
    if (text.charAt(SECONDS_END) != '.' || digits < 1 || digits > MOST_DIGITS) {
      return -1;
    }
    int fraction = number(text, SECONDS_END + 1, end);
    for (int i = digits; i < MOST_DIGITS; i++) {
      fraction *= 10;
    }
    return fraction;
  }

  private static int days(int year, int month) {
    boolean isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && isLeap ? 29 : LENGTHS[month - 1];
  }

  /** Days since 1970, counted from the first of March, so that a leap day ends its year. */
  private static long epochDay(int year, int month, int day) {
    int years = month > 2 ? year : year - 1;
    int months = month > 2 ? month - 3 : month + 9;
    int before = (153 * months + 2) / 5 + day - 1;
    return 365L * years + years / 4 - years / 100 + years / 400 + before - 719_468;
  }
}
