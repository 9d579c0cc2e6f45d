package weft.kernel.stream;

import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * How a reader begins that wants the rows of a changing stream and not all that happened to them:
 * with everything there is, of which only the newest changes of each key are left.
 *
 * @param key the columns of the key
 * @param columns those that are needed; the others are null
 * @param leastRows where there are fewer changes than these, all are given
 */
public record Newest(List<String> key, Set<String> columns, long leastRows) {

  /** What options say, a line for each column; null where they ask for all changes. */
  static Newest of(String key, String columns, long leastRows) {
    return key == null ? null : new Newest(lines(key), Set.copyOf(lines(columns)), leastRows);
  }

  private static List<String> lines(String text) {
    return Arrays.asList(text.split("\n"));
  }
}
