package weft.kernel.spine;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import weft.kernel.json.Json;

/**
 * What one pass of the spine wrote and counted: in a task, or in all of them once they are added
 * up.
 */
final class SpineReport implements Serializable {
  private static final long serialVersionUID = 1L;

  final List<OutputReport> outputs = new ArrayList<>();
  final TreeMap<Integer, Long> verdicts = new TreeMap<>();
  final TreeMap<String, PartitionSpan> partitions = new TreeMap<>();
  final List<String> told = new ArrayList<>();
  long withoutVerdict;

  SpineReport(int outputs) {
    for (int i = 0; i < outputs; i++) {
      this.outputs.add(new OutputReport());
    }
  }

  void add(SpineReport other) {
    for (int i = 0; i < outputs.size(); i++) {
      outputs.get(i).add(other.outputs.get(i));
    }
    other.verdicts.forEach((verdict, count) -> verdicts.merge(verdict, count, Long::sum));
    other.partitions.forEach(
        (partition, span) ->
            partitions.computeIfAbsent(partition, each -> new PartitionSpan()).add(span));
    told.addAll(other.told);
    withoutVerdict += other.withoutVerdict;
  }

  ObjectNode toJson(List<OutputSpec> specs) {
    ObjectNode json = Json.object();
    ObjectNode written = json.putObject("outputs");
    for (int i = 0; i < specs.size(); i++) {
      written.set(specs.get(i).column(), outputs.get(i).toJson());
    }
    ObjectNode columns = json.putObject("columns");
    for (int i = 0; i < specs.size(); i++) {
      ObjectNode summaries = columns.putObject(specs.get(i).column());
      outputs.get(i).columns.forEach((name, summary) -> summaries.set(name, summary.toJson()));
    }
    ObjectNode counts = json.putObject("verdicts");
    verdicts.forEach((verdict, count) -> counts.put(verdict.toString(), count));
    if (withoutVerdict > 0) {
      counts.put("null", withoutVerdict);
    }
    ObjectNode spans = json.putObject("partitions");
    partitions.forEach(
        (partition, span) ->
            spans
                .putObject(partition)
                .put("ahead", span.ahead)
                .put("max_event_time_us", span.latest()));
    ArrayNode values = json.putArray("reports");
    told.forEach(values::add);
    return json;
  }
}
