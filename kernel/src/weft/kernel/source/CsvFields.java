package weft.kernel.source;

import java.util.ArrayList;
import java.util.List;

/**
 * The values of one CSV record, as RFC 4180 writes them.
 *
 * <p>A value is quoted when a quote is its first character; a quote inside it is doubled, and
 * separators and line ends are part of it. A quote elsewhere is a character like others. Files are
 * cut into records by the same rules, in {@code weft.sources.quotes}.
 */
final class CsvFields {
  private static final char QUOTE = '"';

  private CsvFields() {}

  /** The values of a record; an empty one is null unless it is quoted. */
  static String[] split(String record, char separator) throws BadRecord {
    List<String> fields = new ArrayList<>();
    int end = withoutLineEnd(record);
    int at = 0;
    while (true) {
      if (at < end && record.charAt(at) == QUOTE) {
        StringBuilder value = new StringBuilder();
        at = quoted(record, at + 1, end, value);
        if (at < end && record.charAt(at) != separator) {
          throw new BadRecord("a value goes on after its closing quote");
        }
        fields.add(value.toString());
      } else {
        int next = record.indexOf(separator, at);
        int stop = next < 0 || next > end ? end : next;
        fields.add(stop == at ? null : plain(record, at, stop));
        at = stop;
      }
      if (at >= end) {
        return fields.toArray(new String[0]);
      }
      at++; // a separator: another value follows, be it empty
    }
  }

  /** Reads a quoted value from behind its first quote on, and returns the place behind its last. */
  private static int quoted(String record, int from, int end, StringBuilder value)
      throws BadRecord {
    int at = from;
    while (true) {
      int quote = record.indexOf(QUOTE, at);
      if (quote < 0 || quote >= end) {
        throw new BadRecord("a quote is not closed");
      }
      value.append(record, at, quote);
      if (quote + 1 >= end || record.charAt(quote + 1) != QUOTE) {
        return quote + 1;
      }
      value.append(QUOTE);
      at = quote + 2;
    }
  }

  private static String plain(String record, int from, int to) throws BadRecord {
    String value = record.substring(from, to);
    if (value.indexOf('\n') >= 0 || value.indexOf('\r') >= 0) {
      throw new BadRecord("a line ends outside of quotes");
    }
    return value;
  }

  /** The length of a record without the end of its line, if it has one. */
  private static int withoutLineEnd(String record) {
    int end = record.length();
    if (end > 0 && record.charAt(end - 1) == '\n') {
      end--;
    }
    return end > 0 && record.charAt(end - 1) == '\r' ? end - 1 : end;
  }
}
