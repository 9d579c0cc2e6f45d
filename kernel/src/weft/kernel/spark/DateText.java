package weft.kernel.spark;

import java.time.ZoneOffset;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;

/** Dates and times in the forms in which Spark's casts read them. */
public final class DateText {
  private DateText() {}

  /** The days since 1970 that a text says, or null when it says no date. */
  public static Integer days(UTF8String text) {
    Option<Object> days = DateTimeUtils.stringToDate(text);
    return days.isEmpty() ? null : (Integer) days.get();
  }

  /** The microseconds since 1970 that a text says, in UTC where it names no zone, or null. */
  public static Long micros(UTF8String text) {
    Option<Object> micros = DateTimeUtils.stringToTimestamp(text, ZoneOffset.UTC);
    return micros.isEmpty() ? null : (Long) micros.get();
  }
}
