package weft.kernel.hash;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import weft.kernel.json.Json;
import weft.kernel.spark.FrameRows;

/** Rows that are hashed without being written, to compare them with what was. */
public final class Fingerprints {
  private Fingerprints() {}

  /** The number of rows and the sum of their hashes, however they are ordered and partitioned. */
  public static String of(Dataset<Row> rows) {
    long count = 0;
    HashSum hash = new HashSum();
    FingerprintTask task = new FingerprintTask(rows.schema());
    for (FingerprintTask.PartitionSum sum : FrameRows.of(rows).collect(task)) {
      count += sum.rows();
      hash.add(sum.hash());
    }
    return Json.object().put("rows", count).put("hash", hash.hex()).toString();
  }

  /**
   * The number of rows and the sum of their hashes of each file.
   *
   * @param rows the rows, with the name of their file as the last column
   * @return {@code {file: {"rows": …, "hash": …}}}
   */
  public static String ofFiles(Dataset<Row> rows) {
    Map<String, Long> counts = new TreeMap<>();
    Map<String, HashSum> hashes = new TreeMap<>();
    for (FileHashTask.FileSum sum : FrameRows.of(rows).collect(new FileHashTask(rows.schema()))) {
      counts.merge(sum.file(), sum.rows(), Long::sum);
      hashes.computeIfAbsent(sum.file(), each -> new HashSum()).add(sum.hash());
    }
    ObjectNode found = Json.object();
    counts.forEach(
        (file, count) ->
            found.putObject(file).put("rows", count).put("hash", hashes.get(file).hex()));
    return found.toString();
  }
}
