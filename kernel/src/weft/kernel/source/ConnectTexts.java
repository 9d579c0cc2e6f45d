package weft.kernel.source;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Values of a described type as texts, for string columns: decimals in plain notation, dates and
 * times in ISO's, and all else as it stands in the event.
 */
final class ConnectTexts {
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private ConnectTexts() {}

  static JsonValue reader(ConnectType described) {
    if (described == null) {
      return JsonValues::string;
    } else if (described.isDecimal()) {
      return json -> decimal(json, described);
    }
    Epoch epoch = Epoch.described(described);
    long timeUnit = timeUnit(described);
    if (epoch == null && timeUnit == 0) {
      return JsonValues::string;
    }
    return json -> {
      UTF8String raw = (UTF8String) JsonValues.string(json);
      Long number = whole(raw);
      if (number == null) {
        return raw;
      }
      String text = epoch == null ? time(number, timeUnit) : moment(number, epoch);
      return text == null ? raw : UTF8String.fromString(text);
    };
  }

  private static Object decimal(JsonParser json, ConnectType described)
      throws IOException, BadRecord {
    boolean isPacked =
        json.currentToken() == JsonToken.START_OBJECT
            || (json.currentToken() == JsonToken.VALUE_STRING
                && described.isNamed(ConnectType.DECIMAL));
    if (!isPacked) {
      return JsonValues.string(json);
    }
    BigDecimal number = ConnectDecimals.read(json, described, DataTypes.StringType);
    return UTF8String.fromString(number.toPlainString());
  }

  /** The nanoseconds that one unit of a time of day has, or 0 where the type is none. */
  private static long timeUnit(ConnectType described) {
    return switch (String.valueOf(described.name())) {
      case "io.debezium.time.Time", "org.apache.kafka.connect.data.Time" -> 1_000_000L;
      case "io.debezium.time.MicroTime" -> 1000L;
      case "io.debezium.time.NanoTime" -> 1L;
      default -> 0L;
    };
  }

  private static Long whole(UTF8String text) {
    try {
      return Long.valueOf(text.toString());
    } catch (NumberFormatException none) {
      return null;
    }
  }

  /** A time of day; MySQL's may be negative, and longer than a day. Null where it overflows. */
  private static String time(long number, long unit) {
    long size = Math.abs(number);
    if (size < 0 || size > Long.MAX_VALUE / unit) {
      return null;
    }
    long nanos = size * unit;
    long seconds = nanos / NANOS_PER_SECOND;
    String text = String.format("%02d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
    return (number < 0 ? "-" : "") + text + fraction(nanos % NANOS_PER_SECOND);
  }

  private static String fraction(long nanos) {
    if (nanos == 0) {
      return "";
    } else if (nanos % 1_000_000 == 0) {
      return String.format(".%03d", nanos / 1_000_000);
    }
    return nanos % 1000 == 0 ? String.format(".%06d", nanos / 1000) : String.format(".%09d", nanos);
  }

  /** A date or a local time in ISO's notation, or null outside of the years that those have. */
  private static String moment(long number, Epoch epoch) {
    long micros;
    try {
      micros = epoch.micros(number);
    } catch (BadRecord outside) {
      return null;
    }
    long nanos = Math.floorMod(micros, 1_000_000L) * 1000;
    if (epoch == Epoch.NANOS) {
      nanos += Math.floorMod(number, 1000L);
    }
    LocalDateTime moment =
        LocalDateTime.ofEpochSecond(Math.floorDiv(micros, 1_000_000L), (int) nanos, ZoneOffset.UTC);
    return epoch == Epoch.DAYS
        ? moment.toLocalDate().toString()
        : DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(moment);
  }
}
