package weft.kernel.window.bucket;

import org.apache.spark.unsafe.hash.Murmur3_x86_32;

/**
 * The grouping keys of the buckets that keys are spread over.
 *
 * <p>Spark places a group by the hash of its key. The keys here are chosen so that the buckets
 * spread evenly over any number of partitions that divides theirs.
 */
public final class Buckets {
  private static final int SPARK_SEED = 42;

  private Buckets() {}

  public static int[] groups(int buckets) {
    int[] groups = new int[buckets];
    boolean[] taken = new boolean[buckets];
    int left = buckets;
    for (int candidate = 0; left > 0; candidate++) {
      int place = Math.floorMod(Murmur3_x86_32.hashInt(candidate, SPARK_SEED), buckets);
      if (!taken[place]) {
        taken[place] = true;
        groups[place] = candidate;
        left--;
      }
    }
    return groups;
  }

  /** The bucket of a group. */
  public static int ofGroup(int group, int buckets) {
    return Math.floorMod(Murmur3_x86_32.hashInt(group, SPARK_SEED), buckets);
  }

  public static int of(int hash, int buckets) {
    return Math.floorMod(hash, buckets);
  }
}
