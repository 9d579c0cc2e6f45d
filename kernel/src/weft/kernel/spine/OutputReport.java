package weft.kernel.spine;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import weft.kernel.hash.HashSum;
import weft.kernel.json.Json;
import weft.kernel.table.DataFile;

/** What was written to one output: by a task, or by all of them once they are added up. */
final class OutputReport implements Serializable {
  private static final long serialVersionUID = 1L;

  final List<DataFile> files = new ArrayList<>();
  final HashSum hash = new HashSum();
  final TreeMap<String, ColumnSummary> columns = new TreeMap<>();

  void add(OutputReport other) {
    files.addAll(other.files);
    hash.add(other.hash);
    other.columns.forEach(
        (name, summary) -> columns.computeIfAbsent(name, each -> new ColumnSummary()).add(summary));
  }

  ObjectNode toJson() {
    ObjectNode json = Json.object();
    json.put("rows", files.stream().mapToLong(DataFile::rows).sum());
    json.put("bytes", files.stream().mapToLong(DataFile::bytes).sum());
    json.put("hash", hash.hex());
    ArrayNode list = json.putArray("files");
    files.forEach(file -> list.add(file.toJson()));
    return json;
  }
}
