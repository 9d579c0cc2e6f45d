package weft.kernel.spark;

import java.io.Serializable;

/**
 * Where a step of an operator has its state.
 *
 * @param stores those of the operator
 * @param step which of its steps
 * @param partitions how many partitions that has
 * @param numbers how many numbers these have together, to which things are sent
 * @param version the one that a batch begins with
 * @param size tells how large it is
 */
public record StatePlace(
    StateStores stores, int step, int partitions, int numbers, long version, StateSize size)
    implements Serializable {
  /** Tells how large the state of a partition is, which was committed. */
  void tell(int partition, OpenState state) {
    size.add(new StateSize.PartSize(step, partition, state.size(), state.bytes()));
  }
}
