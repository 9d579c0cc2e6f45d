package weft.kernel.operator;

/** The buckets that keys are spread over. */
public final class Buckets {
  private Buckets() {}

  /** The bucket of a key that has a hash. */
  public static int of(int hash, int buckets) {
    return Math.floorMod(hash, buckets);
  }
}
