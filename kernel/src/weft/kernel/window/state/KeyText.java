package weft.kernel.window.state;

import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampType;

/** The key of a window as people write it: its columns joined by a slash. */
public final class KeyText {
  private KeyText() {}

  public static String of(byte[] bytes, StructType type) {
    UnsafeRow row = new UnsafeRow(type.size());
    row.pointTo(bytes, bytes.length);
    List<String> texts = new ArrayList<>();
    for (int at = 0; at < type.size(); at++) {
      DataType column = type.fields()[at].dataType();
      texts.add(row.isNullAt(at) ? "null" : text(row.get(at, column), column));
    }
    return String.join("/", texts);
  }

  private static String text(Object value, DataType type) {
    if (type instanceof TimestampType) {
      return Instant.EPOCH.plus((Long) value, ChronoUnit.MICROS).toString();
    }
    return type instanceof DateType
        ? LocalDate.ofEpochDay((Integer) value).toString()
        : value.toString();
  }
}
