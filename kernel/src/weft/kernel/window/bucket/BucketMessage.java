package weft.kernel.window.bucket;

import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** What goes into a bucket and what comes out of it: a kind and bytes. */
public final class BucketMessage {
  /** In: the knots of the batch, as JSON. */
  public static final int CONTROL = 0;

  /** In: accumulators of many keys, for a slice or window. */
  public static final int SEGMENT = 1;

  /** In: a record whose own session has expired, with its accumulators and its late row. */
  public static final int DOUBT = 2;

  /** In and out: late rows. */
  public static final int LATE = 3;

  /** Out: panes. */
  public static final int PANES = 4;

  /** Out: what the bucket did with the batch, as JSON. */
  public static final int REPORT = 5;

  /** In: how many records of the batch are in segments; the number is in the place of the time. */
  public static final int TAKEN = 6;

  /** In and out: records whose aggregates cannot be computed. */
  public static final int DEAD = 7;

  /** Between the steps of a product: letters for a level, which is in the place of the time. */
  public static final int PARCEL = 8;

  /** Columns of a message that goes into a bucket. */
  public static final int KIND = 1;

  static final int KNOT = 2;
  public static final int TIME = 3;
  public static final int PAYLOAD = 4;

  /**
   * The knot of segments whose records came before any window of theirs fired, whichever knots
   * brought them.
   */
  public static final long ANY_KNOT = Long.MIN_VALUE;

  public static final StructType IN =
      new StructType()
          .add("bucket", DataTypes.IntegerType, false)
          .add("kind", DataTypes.IntegerType, false)
          .add("knot", DataTypes.LongType, false)
          .add("time", DataTypes.LongType, false)
          .add("payload", DataTypes.BinaryType, false);

  public static final StructType OUT =
      new StructType()
          .add("kind", DataTypes.IntegerType, false)
          .add("payload", DataTypes.BinaryType, false);

  private BucketMessage() {}
}
