package weft.kernel.window.aggregate;

import org.apache.spark.unsafe.types.UTF8String;

/**
 * Where a record stands among the others: by event time, then knot, then id, whatever order it
 * arrived in.
 */
public final class Standing {
  public long eventTime;
  public long knot;
  public UTF8String id;
}
