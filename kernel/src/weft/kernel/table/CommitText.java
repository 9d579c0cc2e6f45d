package weft.kernel.table;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import weft.kernel.json.Json;

/** The text of a version of a table's log: what its writer says of it, and what it does. */
final class CommitText {
  private CommitText() {}

  /**
   * A commit as it is written.
   *
   * @param weft the knot or turn, or null
   * @param cut the newest turn before it
   * @param schema the newest version up to it that sets the schema
   */
  static String of(
      String operation, ObjectNode weft, long cut, long schema, List<ObjectNode> actions) {
    ObjectNode note = Json.object();
    // First, so that the sum's place is the first blank of the text: the hash of no rows is all
    // zeros too.
    note.putObject("log").put("cut", cut).put("schema", schema).put("sum", CommitSum.BLANK);
    if (weft != null) {
      note.set("weft", weft);
    }
    ObjectNode info = Json.object().put("timestamp", System.currentTimeMillis());
    info.put("operation", operation).putObject("operationParameters");
    info.put("engineInfo", "weft").put("userMetadata", note.toString());
    StringBuilder lines = new StringBuilder();
    lines.append(wrap("commitInfo", info)).append('\n');
    for (ObjectNode action : actions) {
      lines.append(action).append('\n');
    }
    return CommitSum.fill(lines.toString());
  }

  static ObjectNode wrap(String name, ObjectNode body) {
    ObjectNode action = Json.object();
    action.set(name, body);
    return action;
  }
}
