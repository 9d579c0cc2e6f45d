package weft.kernel.spine;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import weft.kernel.json.Json;

/**
 * What the values of one column look like: how many are missing, and mean and spread of the
 * others, in one pass (Welford) and added up over tasks (Chan).
 */
final class ColumnSummary implements Serializable {
  private static final long serialVersionUID = 1L;

  private long nulls;
  private long values;
  private double mean;
  private double squares;

  void addNull() {
    nulls++;
  }

  /** Takes a value in; one that is no finite number would hide all others, and is left out. */
  void add(double value) {
    if (!Double.isFinite(value)) {
      return;
    }
    values++;
    double away = value - mean;
    mean += away / values;
    squares += away * (value - mean);
  }

  void add(ColumnSummary other) {
    nulls += other.nulls;
    if (other.values == 0) {
      return;
    }
    long both = values + other.values;
    double away = other.mean - mean;
    mean += away * other.values / both;
    squares += other.squares + away * away * values * other.values / both;
    values = both;
  }

  ObjectNode toJson() {
    ObjectNode json = Json.object().put("nulls", nulls);
    // Numbers at the end of the range have no finite squares.
    if (values > 0 && Double.isFinite(mean) && Double.isFinite(squares)) {
      json.put("mean", mean).put("spread", Math.sqrt(squares / values));
    }
    return json;
  }
}
