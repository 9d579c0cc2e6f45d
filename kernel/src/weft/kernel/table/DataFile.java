package weft.kernel.table;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import weft.kernel.json.Json;

/**
 * One Parquet file of a stream table.
 *
 * @param path relative to the table's folder
 * @param sha256 of its bytes
 * @param root of the tree over the hashes of its rows in their order, or null
 */
public record DataFile(
    String path, long rows, long bytes, long modified, String sha256, String root)
    implements Serializable {
  private static final String SHA256 = "weft.sha256";
  private static final String ROOT = "weft.root";

  /** From the form in which the spine reports files and callers hand them to a commit. */
  static DataFile fromJson(JsonNode json, long modified) {
    return new DataFile(
        json.required("path").asText(),
        json.required("rows").asLong(),
        json.required("bytes").asLong(),
        modified,
        json.path("sha256").asText(null),
        json.path("root").asText(null));
  }

  public ObjectNode toJson() {
    ObjectNode json = Json.object().put("path", path).put("rows", rows).put("bytes", bytes);
    if (sha256 != null) {
      json.put("sha256", sha256);
    }
    return root == null ? json : json.put("root", root);
  }

  /** From an {@code add} action of a Delta log. */
  static DataFile fromAdd(JsonNode add) {
    JsonNode stats = add.path("stats");
    return new DataFile(
        add.required("path").asText(),
        stats.isTextual() ? Json.parse(stats.asText()).path("numRecords").asLong() : 0,
        add.path("size").asLong(),
        add.path("modificationTime").asLong(),
        add.path("tags").path(SHA256).asText(null),
        add.path("tags").path(ROOT).asText(null));
  }

  ObjectNode toAdd() {
    return toAdd(true);
  }

  /** As an action that adds it; without {@code changes} its rows were in the table before. */
  ObjectNode toAdd(boolean changes) {
    ObjectNode add = Json.object();
    ObjectNode body = add.putObject("add");
    body.put("path", path).putObject("partitionValues");
    body.put("size", bytes).put("modificationTime", modified).put("dataChange", changes);
    body.put("stats", Json.object().put("numRecords", rows).toString());
    if (sha256 != null) {
      ObjectNode tags = body.putObject("tags").put(SHA256, sha256);
      if (root != null) {
        tags.put(ROOT, root);
      }
    }
    return add;
  }

  ObjectNode toRemove(long timestamp) {
    return toRemove(timestamp, true);
  }

  /** As an action that removes it; without {@code changes} its rows stay in the table. */
  ObjectNode toRemove(long timestamp, boolean changes) {
    ObjectNode remove = Json.object();
    ObjectNode body = remove.putObject("remove");
    body.put("path", path).put("deletionTimestamp", timestamp).put("dataChange", changes);
    body.put("extendedFileMetadata", true).putObject("partitionValues");
    body.put("size", bytes);
    return remove;
  }
}
