package weft.kernel.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import weft.kernel.json.Json;

/** Rows that are let go of: their knots stay, cuts and restorations leave them alone. */
class ExpiryTest {
  private static final String BY = "{\"operation\":\"expire-1\"}";

  /** A log in memory. */
  private static final class ListedLog implements LogStorage {
    private final List<String> texts = new ArrayList<>();

    @Override
    public boolean exists(long version) {
      return version < texts.size();
    }

    @Override
    public String read(long version) {
      return texts.get((int) version);
    }

    @Override
    public boolean putIfAbsent(long version, String text) {
      return version == texts.size() && texts.add(text);
    }
  }

  private final ListedLog texts = new ListedLog();
  private TableLog log;

  @BeforeEach
  void tieSixKnots() throws IOException {
    log = new TableLog("table", texts);
    log.create("{\"type\":\"struct\",\"fields\":[]}", "{}");
    for (int knot = 1; knot <= 6; knot++) {
      tie(knot);
    }
  }

  private void tie(int knot) throws IOException {
    String file = "[{\"path\":\"f" + knot + "\",\"rows\":1,\"bytes\":10}]";
    log.commit(log.version(), "{\"knot\":" + knot + "}", file, null);
  }

  private static int files(String knot) {
    return Json.parse(knot).get("files").size();
  }

  private static List<String> removed(String text) {
    List<String> paths = new ArrayList<>();
    for (String line : text.split("\n")) {
      JsonNode remove = Json.parse(line).path("remove");
      if (remove.has("path")) {
        paths.add(remove.get("path").asText());
      }
    }
    return paths;
  }

  @Test
  void knotsStayAndFilesGoOnce() throws IOException {
    long made = log.expire(3, BY);
    assertEquals(List.of("f1", "f2", "f3"), removed(texts.read(made)));
    assertEquals(made, log.expire(3, BY));
    assertEquals(made, log.expire(2, BY));
    assertEquals(3, log.expired());
    assertEquals(6, Json.parse(log.knots(0, 9)).size());
    assertEquals(0, files(log.find(3)));
    assertEquals(1, files(log.find(4)));
    assertEquals("[\"f1\",\"f2\",\"f3\"]", log.written(0, 3));
    tie(7);
    assertEquals(List.of("f4", "f5"), removed(texts.read(log.expire(5, BY))));
  }

  @Test
  void whoeverOpensTheTableLaterSeesIt() throws IOException {
    log.expire(3, BY);
    tie(7);
    log.cut(6, 7, BY);
    log.expire(4, BY);
    TableLog other = new TableLog("table", texts);
    assertEquals(4, other.expired());
    assertNull(other.find(7));
    assertEquals(0, files(other.find(4)));
    assertEquals(1, files(other.head()));
  }

  @Test
  void cutAndRestoredKnotsHaveNoRowsToLose() throws IOException {
    log.cut(4, 6, BY);
    long made = log.expire(3, BY);
    assertEquals(List.of("f1", "f2", "f3"), removed(texts.read(made)));
    assertEquals(List.of("f4"), removed(texts.read(log.cut(2, 4, BY))));
    long back = log.restore(2, 4, BY);
    assertTrue(texts.read(back).contains("\"f4\""));
    assertFalse(texts.read(back).contains("\"f3\""));
    assertEquals(0, files(log.find(3)));
    assertEquals(1, files(log.find(4)));
  }
}
