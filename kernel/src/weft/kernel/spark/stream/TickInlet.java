package weft.kernel.spark.stream;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import weft.kernel.json.Json;
import weft.kernel.operator.InputBatch;
import weft.kernel.table.Wake;

/** Has no rows, and goes one step on for all ticks that were asked for since the last batch. */
public final class TickInlet implements Inlet {
  private static final String TICK = "tick";
  private static final Set<String> ASKED = ConcurrentHashMap.newKeySet();

  private final String name;

  TickInlet(String name) {
    this.name = name;
  }

  /** Asks the query that has the tick of this name for one batch, now or when it starts. */
  public static void ask(String name) {
    ASKED.add(name);
    Wake.added(name);
  }

  @Override
  public void tick() {
    ask(name);
  }

  @Override
  public String latest(String from) {
    if (!ASKED.remove(name)) {
      return from;
    }
    JsonNode before = from == null ? Json.object() : Json.parse(from);
    return Json.object().put(TICK, before.path(TICK).asLong() + 1).toString();
  }

  @Override
  public InputBatch batch(String from, String to) {
    throw new UnsupportedOperationException("A tick has no rows.");
  }
}
