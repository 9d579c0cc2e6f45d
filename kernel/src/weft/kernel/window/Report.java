package weft.kernel.window;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;

/** What a bucket did with a batch. The ledger of the pipeline is the sum of these. */
final class Report {
  private static final ObjectMapper JSON = new ObjectMapper();

  long absorbed;
  long late;
  long dead;
  long panes;

  /**
   * As JSON; `hold` is the lowest event time that a pane on time may still get, or null when none
   * is open.
   */
  byte[] toJson(int bucket, long watermark, Long hold, long windows) {
    ObjectNode node = JSON.createObjectNode().put("bucket", bucket);
    node.put("watermark", watermark == Knots.NONE ? null : (Long) watermark);
    node.put("hold", hold).put("windows", windows);
    node.put("absorbed", absorbed).put("late", late).put("dead", dead).put("panes", panes);
    return node.toString().getBytes(StandardCharsets.UTF_8);
  }
}
