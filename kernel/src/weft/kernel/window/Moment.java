package weft.kernel.window;

import org.apache.spark.unsafe.types.UTF8String;

/**
 * Where a record stands among the others: by event time, then knot, then id, whatever order it
 * arrived in.
 */
final class Moment {
  long eventTime;
  long knot;
  UTF8String id;
}
