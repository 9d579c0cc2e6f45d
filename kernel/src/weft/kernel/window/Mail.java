package weft.kernel.window;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.IterableOnce;
import scala.jdk.javaapi.CollectionConverters;

/** Addresses messages to buckets. */
final class Mail {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final IterableOnce<InternalRow> NONE =
      CollectionConverters.asScala(Collections.<InternalRow>emptyIterator());

  private final int[] groups;

  Mail(int buckets) {
    this.groups = Buckets.groups(buckets);
  }

  InternalRow message(int bucket, int kind, long knot, long time, byte[] payload) {
    return new GenericInternalRow(new Object[] {groups[bucket], kind, knot, time, payload});
  }

  /** A control row, which names its bucket itself. */
  InternalRow control(UTF8String text) {
    try {
      int bucket = JSON.readTree(text.getBytes()).get("bucket").intValue();
      return message(bucket, Message.CONTROL, 0, 0, text.getBytes());
    } catch (IOException e) {
      throw new IllegalArgumentException("This control row is not JSON: " + text, e);
    }
  }

  static IterableOnce<InternalRow> one(InternalRow row) {
    return all(List.of(row));
  }

  static IterableOnce<InternalRow> none() {
    return NONE;
  }

  static IterableOnce<InternalRow> all(List<InternalRow> rows) {
    return CollectionConverters.asScala(rows.iterator());
  }
}
