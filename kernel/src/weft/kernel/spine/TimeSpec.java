package weft.kernel.spine;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Where the spine reads source partition and event time of every row, dropped ones too: what a rule
 * filters out has been seen all the same, and time goes on. Times after {@code latest} are from the
 * future: counted, and otherwise left out.
 */
record TimeSpec(int partition, boolean isNamed, int eventTime, long latest)
    implements Serializable {
  private static final long MICROS = 1000L;

  /**
   * From {@code {"partition": …, "event_time": …, "latest_ms": …}}, or null where there is none.
   */
  static TimeSpec parse(JsonNode spec, StructType schema) {
    if (spec.isMissingNode() || spec.isNull()) {
      return null;
    }
    int partition = schema.fieldIndex(spec.required("partition").asText());
    return new TimeSpec(
        partition,
        schema.fields()[partition].dataType() instanceof StringType,
        schema.fieldIndex(spec.required("event_time").asText()),
        spec.required("latest_ms").asLong() * MICROS);
  }

  /** Looks at the rows of one task. */
  final class Observer {
    private final TreeMap<String, PartitionSpan> spans;
    private UTF8String lastName;
    private int last;
    private PartitionSpan span;

    Observer(TreeMap<String, PartitionSpan> spans) {
      this.spans = spans;
    }

    void take(UnsafeRow row) {
      if (row.isNullAt(partition)) {
        return;
      }
      find(row);
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

    /**
     * Rows of a partition mostly follow each other, so the last one's span is mostly the right one.
     */
    private void find(UnsafeRow row) {
      if (isNamed) {
        UTF8String name = row.getUTF8String(partition);
        if (!name.equals(lastName)) {
          lastName = name.clone();
          span = spans.computeIfAbsent(name.toString(), each -> new PartitionSpan());
        }
        return;
      }
      int number = row.getInt(partition);
      if (span == null || number != last) {
        last = number;
        span = spans.computeIfAbsent(Integer.toString(number), each -> new PartitionSpan());
      }
    }
  }
}
