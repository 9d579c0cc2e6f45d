package weft.kernel.table;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Which knots of a table share a file, newest say: a compaction takes the place of older ones. */
final class Compactions {
  private final TreeMap<Long, Compacted> byUpto = new TreeMap<>();

  /** Takes in the files of a commit that compacts. */
  void add(Commit commit) {
    List<Compacted> made = of(commit);
    for (Compacted one : made) {
      overlapping(one.after(), one.upto()).forEach(old -> byUpto.remove(old.upto()));
    }
    made.forEach(one -> byUpto.put(one.upto(), one));
  }

  private static List<Compacted> of(Commit commit) {
    List<Compacted> made = new ArrayList<>();
    for (JsonNode one : commit.weft().get("compact")) {
      made.add(Compacted.fromJson(one, one.path("modified").asLong()));
    }
    return made;
  }

  /** The file that has the rows of a knot with others, or null when it has files of its own. */
  Compacted find(long knot) {
    Map.Entry<Long, Compacted> entry = byUpto.ceilingEntry(knot);
    return entry != null && entry.getValue().contains(knot) ? entry.getValue() : null;
  }

  /** The files that have rows of knots in (after, upto]. */
  List<Compacted> overlapping(long after, long upto) {
    List<Compacted> found = new ArrayList<>();
    for (Compacted one : byUpto.tailMap(after, false).values()) {
      if (one.after() >= upto) {
        break;
      }
      found.add(one);
    }
    return found;
  }

  /** Those that have rows of knots after one; of the others nobody asks any longer. */
  Collection<Compacted> after(long knot) {
    return byUpto.tailMap(knot, false).values();
  }
}
