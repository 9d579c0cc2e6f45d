package weft.kernel.window.bucket;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import weft.kernel.json.Json;
import weft.kernel.window.time.Millis;

/** What a bucket did with a batch. The ledger of the pipeline is the sum of these. */
final class BucketReport {

  long absorbed;
  long late;
  long dead;
  long panes;

  /**
   * As JSON; `hold` is the lowest event time that a pane on time may still get, or null when none
   * is open.
   */
  byte[] toJson(int bucket, long watermark, Long hold, long windows) {
    ObjectNode node = Json.object().put("bucket", bucket);
    node.put("watermark", watermark == Millis.NONE ? null : (Long) watermark);
    node.put("hold", hold).put("windows", windows);
    node.put("absorbed", absorbed).put("late", late).put("dead", dead).put("panes", panes);
    return node.toString().getBytes(StandardCharsets.UTF_8);
  }
}
