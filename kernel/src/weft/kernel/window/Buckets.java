package weft.kernel.window;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;

/**
 * The grouping keys of the buckets that keys are spread over.
 *
 * <p>Spark places a group by the hash of its key. The keys here are chosen so that the buckets spread evenly over any
 * number of partitions that divides theirs.
 */
final class Buckets {
  private static final int SPARK_SEED = 42;

  private Buckets() {}

  static int[] groups(int buckets) {
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

  /** The bucket of each group. */
  static Map<Integer, Integer> byGroup(int buckets) {
    int[] groups = groups(buckets);
    Map<Integer, Integer> byGroup = new HashMap<>();
    for (int bucket = 0; bucket < buckets; bucket++) {
      byGroup.put(groups[bucket], bucket);
    }
    return byGroup;
  }

  static int of(int hash, int buckets) {
    return Math.floorMod(hash, buckets);
  }
}
