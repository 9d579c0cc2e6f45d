package weft.kernel.spark;

import java.io.Serializable;

/**
 * Where a step of an operator has its state.
 *
 * @param stores those of the operator
 * @param step which of its steps
 * @param partitions how many partitions that has
 * @param version the one that a batch begins with
 * @param size tells how large it is
 */
public record StatePlace(
    StateStores stores, int step, int partitions, long version, StateSize size)
    implements Serializable {}
