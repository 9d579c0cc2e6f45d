package weft.kernel.table;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import weft.kernel.json.Json;

/**
 * Larger files that take the place of those which knots have now, held against the table before
 * they do: whatever was cut, expired or compacted since they were made refuses them.
 */
final class Compaction {
  private final LogView view;
  private final List<Compacted> made = new ArrayList<>();
  private final Map<String, DataFile> live = new LinkedHashMap<>();
  private final Map<String, DataFile> gone = new LinkedHashMap<>();

  /**
   * Looks whether the files can take that place.
   *
   * @param filesJson what was made: files with {@code after} and {@code upto}
   * @param replaces the paths that they were made of
   */
  Compaction(LogView view, String filesJson, Collection<String> replaces, long now)
      throws IOException {
    this.view = view;
    for (JsonNode one : Json.parse(filesJson)) {
      made.add(Compacted.fromJson(one, now));
    }
    for (Compacted one : made) {
      take(one);
    }
    Set<String> found = new LinkedHashSet<>(live.keySet());
    found.addAll(gone.keySet());
    if (!found.equals(new LinkedHashSet<>(replaces)) || rows(made) != rowsBefore()) {
      throw new CommitConflict(
          "The files that were put together are no longer those of the table.");
    }
  }

  private void take(Compacted one) throws IOException {
    long rows = 0;
    long cut = 0;
    List<Commit> knots = view.knots(one.after(), one.upto());
    for (Commit knot : knots) {
      boolean isCut = view.isCut(knot.knot());
      cut += isCut ? 1 : 0;
      rows += knot.rows();
      for (DataFile file : view.files(knot)) {
        (isCut ? gone : live).put(file.path(), file);
      }
    }
    boolean isMixed = cut > 0 && cut < knots.size();
    if (one.after() < view.expired() || isMixed || rows != one.file().rows()) {
      throw new CommitConflict(
          "Knots "
              + (one.after() + 1)
              + " to "
              + one.upto()
              + " cannot share a file: some are cut or expired meanwhile.");
    }
  }

  private static long rows(List<Compacted> files) {
    return files.stream().mapToLong(one -> one.file().rows()).sum();
  }

  private long rowsBefore() {
    return live.values().stream().mapToLong(DataFile::rows).sum()
        + gone.values().stream().mapToLong(DataFile::rows).sum();
  }

  /** What the commit says of it. */
  ObjectNode note(String weftJson, long now) {
    ObjectNode weft = Json.parseObject(weftJson);
    ArrayNode listed = weft.putArray("compact");
    made.forEach(one -> listed.add(one.toJson().put("modified", now)));
    if (!gone.isEmpty()) {
      ArrayNode retired = weft.putArray("retired");
      gone.keySet().forEach(retired::add);
    }
    return weft;
  }

  /** What it does to the table; rows of knots that were cut stay out of it. */
  List<ObjectNode> actions(long now) throws IOException {
    List<ObjectNode> actions = new ArrayList<>();
    live.values().forEach(file -> actions.add(file.toRemove(now, false)));
    for (Compacted one : made) {
      if (!view.kept(one.after(), one.upto()).isEmpty()) {
        actions.add(one.file().toAdd(false));
      }
    }
    return actions;
  }

  /**
   * The files that compactions after a version, and made before a moment, have replaced, as JSON
   * with the newest of these versions.
   */
  static String replaced(LogView view, LogStorage storage, long after, long before)
      throws IOException {
    ObjectNode found = Json.object().put("version", after);
    ArrayNode paths = found.putArray("paths");
    long oldest = Math.max(after + 1, view.first());
    for (long v = view.cutVersion(); v >= oldest; v = view.read(v).cutVersion()) {
      if (view.read(v).isCompaction()) {
        collect(v, storage.read(v), before, found, paths);
      }
    }
    return found.toString();
  }

  private static void collect(
      long version, String text, long before, ObjectNode found, ArrayNode paths) {
    List<String> replaced = new ArrayList<>();
    long made = Long.MAX_VALUE;
    for (String line : text.split("\n")) {
      JsonNode action = Json.parse(line);
      if (action.has("remove")) {
        replaced.add(action.get("remove").required("path").asText());
      } else if (action.has("commitInfo")) {
        made = action.get("commitInfo").required("timestamp").asLong();
        JsonNode note = Json.parse(action.get("commitInfo").required("userMetadata").asText());
        note.path("weft").path("retired").forEach(path -> replaced.add(path.asText()));
      }
    }
    if (made <= before) {
      replaced.forEach(paths::add);
      found.put("version", Math.max(version, found.get("version").asLong()));
    }
  }
}
