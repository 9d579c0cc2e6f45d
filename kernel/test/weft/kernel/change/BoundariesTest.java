package weft.kernel.change;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class BoundariesTest {
  private static String nameOf(String id) {
    byte[] name = Boundaries.nameOf(id.getBytes(StandardCharsets.UTF_8));
    return new String(name, StandardCharsets.UTF_8);
  }

  @Test
  void aTransactionHasOneNameInAllOfItsEvents() {
    assertEquals("755", nameOf("755:24241568"));
    assertEquals("755", nameOf("755:24241776"));
    assertNull(Boundaries.nameOf(null));
  }

  @Test
  void namesOfOtherDatabasesStayWhole() {
    for (String id :
        List.of(
            "36090e1a-9bf1-11e9-8d3f-0242ac110002:27",
            "file=mysql-bin.000003,pos=154",
            "00000025:00000d08:0025",
            "6.28.807",
            ":7",
            "")) {
      assertEquals(id, nameOf(id));
    }
  }

  @Test
  void aCollectionIsTheTableWhoseTopicEndsWithIt() {
    Boundaries boundaries = new Boundaries(2, List.of("app.public.users", "public.stars"));
    assertEquals(0, boundaries.tableOf("public.users"));
    assertEquals(1, boundaries.tableOf("public.stars"));
    assertEquals(-1, boundaries.tableOf("blic.users"));
  }
}
