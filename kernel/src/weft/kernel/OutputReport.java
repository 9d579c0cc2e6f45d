package weft.kernel;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** What was written to one output: by a task, or by all of them once they are added up. */
final class OutputReport implements Serializable {
  private static final long serialVersionUID = 1L;

  final List<DataFile> files = new ArrayList<>();
  final HashSum hash = new HashSum();
  final TreeMap<Integer, PartitionSpan> partitions = new TreeMap<>();

  void add(OutputReport other) {
    files.addAll(other.files);
    hash.add(other.hash);
    other.partitions.forEach(
        (partition, span) -> partitions.computeIfAbsent(partition, p -> new PartitionSpan()).add(span));
  }

  ObjectNode toJson() {
    ObjectNode json = Json.object();
    json.put("rows", files.stream().mapToLong(DataFile::rows).sum());
    json.put("bytes", files.stream().mapToLong(DataFile::bytes).sum());
    json.put("hash", hash.hex());
    ArrayNode list = json.putArray("files");
    files.forEach(file -> list.add(file.toJson()));
    ObjectNode spans = json.putObject("partitions");
    partitions.forEach(
        (partition, span) -> {
          ObjectNode entry = spans.putObject(partition.toString()).put("rows", span.rows);
          entry.put("min_event_time_us", span.hasTimes() ? span.earliest : null);
          entry.put("max_event_time_us", span.hasTimes() ? span.latest : null);
        });
    return json;
  }
}
