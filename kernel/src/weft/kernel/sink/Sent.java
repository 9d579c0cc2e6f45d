package weft.kernel.sink;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import weft.kernel.json.Json;

/** What became of a share. */
record Sent(Outcome outcome, String reason) implements Serializable {
  private static final long serialVersionUID = 1L;

  enum Outcome {
    /** It is in the topic, with its position. */
    DONE,
    /** Kafka has not taken all of it: ask again after a while. */
    WAITING,
    /** Another sender of the slot came between: a new one will see whether it may go on. */
    AGAIN,
    /** The position is no longer the one before it: another worker writes here. */
    FENCED,
    /** Kafka refused it. */
    REFUSED
  }

  static Sent of(Outcome outcome) {
    return new Sent(outcome, "");
  }

  ObjectNode toJson() {
    return Json.object().put("outcome", outcome.name().toLowerCase()).put("reason", reason);
  }
}
