package weft.kernel.operator;

/** The buckets that keys are spread over, and the partitions that buckets are in. */
public final class Buckets {
  private Buckets() {}

  /** The bucket of a key that has a hash. */
  public static int of(int hash, int buckets) {
    return Math.floorMod(hash, buckets);
  }

  /** The partition that has a bucket. */
  static int partition(int bucket, int partitions) {
    return bucket % partitions;
  }
}
