package weft.kernel.stream;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashSet;
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

  /** What is asked for; null where that is all changes. */
  static Newest of(JsonNode asked) {
    if (asked.isMissingNode()) {
      return null;
    }
    List<String> key = new ArrayList<>();
    asked.required("key").forEach(name -> key.add(name.textValue()));
    Set<String> columns = new HashSet<>();
    asked.required("columns").forEach(name -> columns.add(name.textValue()));
    return new Newest(List.copyOf(key), Set.copyOf(columns), asked.required("from").asLong());
  }
}
