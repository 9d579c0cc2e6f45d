package weft.kernel.window.plan;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.json.Json;
import weft.kernel.window.bucket.BucketMessage;
import weft.kernel.window.bucket.Buckets;

/** Addresses messages to buckets. */
public final class Mail {

  private final int[] groups;

  public Mail(int buckets) {
    this.groups = Buckets.groups(buckets);
  }

  public InternalRow message(int bucket, int kind, long knot, long time, byte[] payload) {
    return new GenericInternalRow(new Object[] {groups[bucket], kind, knot, time, payload});
  }

  /** A control row, which names its bucket itself. */
  public InternalRow control(UTF8String text) {
    int bucket = Json.parse(text.toString()).get("bucket").intValue();
    return message(bucket, BucketMessage.CONTROL, 0, 0, text.getBytes());
  }

  public static Iterator<InternalRow> one(InternalRow row) {
    return List.of(row).iterator();
  }
}
