package weft.kernel;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;

/**
 * Where the spine reads source partition and event time of every row, dropped ones too: what a rule filters out has been
 * seen all the same, and time goes on. Times after {@code latest} are from the future: counted, and otherwise left out.
 */
record TimeSpec(int partition, int eventTime, long latest) implements Serializable {
  private static final long MICROS = 1000L;

  /** From {@code {"partition": …, "event_time": …, "latest_ms": …}}, or null where there is none. */
  static TimeSpec parse(JsonNode spec, StructType schema) {
    if (spec.isMissingNode() || spec.isNull()) {
      return null;
    }
    return new TimeSpec(
        schema.fieldIndex(spec.required("partition").asText()),
        schema.fieldIndex(spec.required("event_time").asText()),
        spec.required("latest_ms").asLong() * MICROS);
  }

  /** Looks at the rows of one task. */
  final class Watch {
    private final TreeMap<Integer, PartitionSpan> spans;
    private int last;
    private PartitionSpan span;

    Watch(TreeMap<Integer, PartitionSpan> spans) {
      this.spans = spans;
    }

    void take(UnsafeRow row) {
      if (row.isNullAt(partition)) {
        return;
      }
      int number = row.getInt(partition);
      if (span == null || number != last) {
        span = spans.computeIfAbsent(number, each -> new PartitionSpan());
        last = number;
      }
      if (row.isNullAt(eventTime)) {
        return;
      }
      long time = row.getLong(eventTime);
      if (time > latest) {
        span.ahead++;
      } else {
        span.addTime(time);
      }
    }
  }
}
