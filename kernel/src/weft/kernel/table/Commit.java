package weft.kernel.table;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import weft.kernel.json.Json;

/**
 * One version of a stream table's log: a knot, a turn (a cut, what undoes one, an expiry, or a
 * compaction), the table's creation, or what another tool wrote.
 *
 * @param weft the knot or turn as its writer described it, or null
 * @param cutVersion newest version before this one that is a turn, -1 for none, null when another
 *     tool wrote it
 * @param schemaVersion newest version up to this one that sets the schema, null when another tool
 *     wrote it
 * @param metaData Delta's description of the table that this version sets, or null
 */
public record Commit(
    long version,
    ObjectNode weft,
    List<DataFile> files,
    Long cutVersion,
    Long schemaVersion,
    ObjectNode metaData) {
  public static final long NONE = -1;

  static Commit parse(long version, String text) {
    ObjectNode weft = null;
    Long cutVersion = null;
    Long schemaVersion = null;
    ObjectNode metaData = null;
    List<DataFile> files = new ArrayList<>();
    for (String line : text.split("\n")) {
      if (line.isBlank()) {
        continue;
      }
      JsonNode action = Json.parse(line);
      if (action.has("add")) {
        files.add(DataFile.fromAdd(action.get("add")));
      } else if (action.get("metaData") instanceof ObjectNode described) {
        metaData = described;
      } else if (action.path("commitInfo").path("userMetadata").isTextual()) {
        JsonNode note = Json.parse(action.get("commitInfo").get("userMetadata").asText());
        if (note.has("log")) {
          weft = note.get("weft") instanceof ObjectNode object ? object : null;
          cutVersion = note.get("log").required("cut").asLong();
          schemaVersion = note.get("log").required("schema").asLong();
        }
      }
    }
    return new Commit(version, weft, List.copyOf(files), cutVersion, schemaVersion, metaData);
  }

  boolean isOurs() {
    return cutVersion != null;
  }

  public boolean isKnot() {
    return weft != null && weft.has("knot");
  }

  boolean isCut() {
    return weft != null && weft.has("cut");
  }

  /** Whether it takes the rows of old knots out of the table, which stay knots of it. */
  boolean isExpiry() {
    return weft != null && weft.has("expire");
  }

  /** Whether it puts the rows of knots together into larger files. */
  boolean isCompaction() {
    return weft != null && weft.has("compact");
  }

  /**
   * Whether it changes what is in the table or where: takes knots or rows out, brings knots back,
   * or puts rows together.
   */
  boolean isTurn() {
    return isCut() || isExpiry() || isCompaction() || (weft != null && weft.has("restore"));
  }

  public long knot() {
    return weft.get("knot").asLong();
  }

  /** The last knot whose rows an expiry takes out. */
  long expires() {
    return weft.get("expire").asLong();
  }

  /** The knot after which a cut or restoration begins. */
  long keep() {
    return turn().get(0).asLong();
  }

  /** The last knot of a cut or restoration. */
  long head() {
    return turn().get(1).asLong();
  }

  private JsonNode turn() {
    return weft.get(isCut() ? "cut" : "restore");
  }

  public long rows() {
    return files.stream().mapToLong(DataFile::rows).sum();
  }

  /**
   * The knot as its writer described it, with the version that it has in the table, and the files
   * that have its rows now.
   */
  ObjectNode described(List<DataFile> held) {
    ObjectNode entry = Json.object().put("version", version);
    entry.set("weft", weft);
    ArrayNode listed = entry.putArray("files");
    held.forEach(file -> listed.add(file.toJson()));
    return entry;
  }
}
