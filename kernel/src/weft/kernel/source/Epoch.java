package weft.kernel.source;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigDecimal;
import org.apache.spark.sql.types.DataTypes;

/**
 * What a number counts when it stands for a time: units since 1970.
 *
 * <p>{@link #AUTO} tells the unit by the number's magnitude. What is below 10^11 are seconds, below
 * 10^14 milliseconds, below 10^17 microseconds, and the rest nanoseconds: of the years 1973 to 5138
 * these do not overlap.
 */
enum Epoch {
  DAYS(0),
  SECONDS(6),
  MILLIS(3),
  MICROS(0),
  NANOS(-3),
  AUTO(0);

  /** A unit has ten to this power microseconds. */
  private final int digits;

  Epoch(int digits) {
    this.digits = digits;
  }

  /** The unit that a project file names. */
  static Epoch named(String unit) {
    return switch (unit) {
      case "s" -> SECONDS;
      case "ms" -> MILLIS;
      case "us" -> MICROS;
      case "ns" -> NANOS;
      case "auto" -> AUTO;
      default -> throw new IllegalArgumentException("There is no unit of time " + unit + ".");
    };
  }

  /** The unit of a described type, or null where it says none. */
  static Epoch described(ConnectType described) {
    if (described == null || described.name() == null) {
      return null;
    }
    return switch (described.name()) {
      case "io.debezium.time.Date", "org.apache.kafka.connect.data.Date" -> DAYS;
      case "io.debezium.time.Timestamp", "org.apache.kafka.connect.data.Timestamp" -> MILLIS;
      case "io.debezium.time.MicroTimestamp" -> MICROS;
      case "io.debezium.time.NanoTimestamp" -> NANOS;
      default -> null;
    };
  }

  /** The days since 1970 of the number that a parser stands on. */
  int days(JsonParser json) throws IOException, BadRecord {
    if (this != DAYS) {
      return (int) Math.floorDiv(micros(json), TextValues.MICROS_PER_DAY);
    }
    long days = (long) TextValues.integral(json.getDecimalValue(), DataTypes.LongType);
    return TextValues.days(days, Long.toString(days));
  }

  /** The microseconds since 1970 of the number that a parser stands on. */
  long micros(JsonParser json) throws IOException, BadRecord {
    if (json.currentToken() == JsonToken.VALUE_NUMBER_INT
        && json.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
      return micros(json.getLongValue());
    }
    BigDecimal number = json.getDecimalValue();
    if (this == DAYS) {
      return micros((long) TextValues.integral(number, DataTypes.LongType));
    }
    return TextValues.micros(number, unit(number.precision() - (long) number.scale()).digits);
  }

  /** The microseconds since 1970 of a number of units. */
  long micros(long number) throws BadRecord {
    String text = Long.toString(number);
    try {
      long micros =
          switch (this == AUTO ? unit(text.length() - (number < 0 ? 1 : 0)) : this) {
            case DAYS -> Math.multiplyExact(number, TextValues.MICROS_PER_DAY);
            case SECONDS -> Math.multiplyExact(number, 1_000_000L);
            case MILLIS -> Math.multiplyExact(number, 1000L);
            case NANOS -> Math.floorDiv(number, 1000L);
            default -> number;
          };
      return TextValues.inRange(micros, text);
    } catch (ArithmeticException overflow) {
      throw BadRecord.outOfRange("timestamp (years 1 to 9999)", text);
    }
  }

  /** The unit of a number with so many digits before its point. */
  private Epoch unit(long wholeDigits) {
    if (this != AUTO) {
      return this;
    } else if (wholeDigits <= 11) {
      return SECONDS;
    } else if (wholeDigits <= 14) {
      return MILLIS;
    }
    return wholeDigits <= 17 ? MICROS : NANOS;
  }
}
