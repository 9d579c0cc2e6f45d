package weft.kernel.spark;

/**
 * What a task sends to one of the next step.
 *
 * @param to a number; the partition of that task is its rest by the number of partitions
 * @param bytes what it gets
 */
public record Addressed(int to, byte[] bytes) {
  /** The partition of a number. */
  public static int partition(int to, int partitions) {
    return to % partitions;
  }
}
