package weft.kernel.source;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.connector.read.streaming.Offset;

/** An offset that is one rising number under a name, such as {@code {"segment":12}}. */
final class CountOffset extends Offset {
  private final String name;
  private final long count;

  CountOffset(String name, long count) {
    this.name = name;
    this.count = count;
  }

  static CountOffset parse(String name, String json) {
    Matcher found =
        Pattern.compile("\\{\\s*\"" + name + "\"\\s*:\\s*(\\d+)\\s*}").matcher(json.trim());
    if (!found.matches()) {
      throw new IllegalArgumentException(
          "This is not an offset of the form {\"" + name + "\": n}: " + json);
    }
    return new CountOffset(name, Long.parseLong(found.group(1)));
  }

  long count() {
    return count;
  }

  CountOffset plus(long more) {
    return new CountOffset(name, count + more);
  }

  @Override
  public String json() {
    return "{\"" + name + "\":" + count + "}";
  }
}
