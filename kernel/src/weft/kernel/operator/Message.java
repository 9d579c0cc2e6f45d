package weft.kernel.operator;

import weft.kernel.bytes.Blob;

/**
 * What goes into a bucket, and what comes out of one.
 *
 * @param bucket the one that it is for; of what comes out at the end, the one that it is from
 * @param kind what it is
 * @param knot the knot that brought it, where that counts
 * @param time a time, a number or a level, as its kind says
 * @param payload what it says
 */
public record Message(int bucket, int kind, long knot, long time, byte[] payload) {
  /** In: the knots of the batch, as JSON. */
  public static final int CONTROL = 0;

  /** In: accumulators of many keys, for a slice or window; changes of a table. */
  public static final int SEGMENT = 1;

  /** In: a record whose own session has expired, with its accumulators and its late row. */
  public static final int DOUBT = 2;

  /** In and out: late rows. */
  public static final int LATE = 3;

  /** Out: results. */
  public static final int RESULTS = 4;

  /** Out: what the bucket did with the batch, as JSON. */
  public static final int REPORT = 5;

  /** In: how many records of the batch are in segments; the number is in the place of the time. */
  public static final int TAKEN = 6;

  /** In and out: records of which nothing can be computed. */
  public static final int DEAD = 7;

  /** Between the steps of an operator: letters for a level, which is in the place of the time. */
  public static final int PARCEL = 8;

  /**
   * The knot of segments whose records came before any window of theirs fired, whichever knots
   * brought them.
   */
  public static final long ANY_KNOT = Long.MIN_VALUE;

  /** One that says nothing but what it is. */
  public static Message of(int bucket, int kind, byte[] payload) {
    return new Message(bucket, kind, 0, 0, payload);
  }

  byte[] toBytes() {
    Blob out = Blob.ofSize(payload.length + 32L);
    out.putInt(bucket);
    out.putInt(kind);
    out.putLong(knot);
    out.putLong(time);
    out.putArray(payload);
    return out.toArray();
  }

  static Message read(byte[] bytes) {
    Blob in = Blob.reading(bytes);
    return new Message(in.getInt(), in.getInt(), in.getLong(), in.getLong(), in.getArray());
  }
}
