package weft.kernel.spark;

import java.io.Serializable;
import java.util.Iterator;

/**
 * What takes that which was sent to a partition, with the state of that partition.
 *
 * @param <T> what it makes of it
 */
public interface StateTask<T> extends Serializable {
  /**
   * What is made; all was taken and all is in the state that is to be kept there once the last of
   * it was asked for. What was received is in the order of the numbers that it was sent to.
   */
  Iterator<T> run(int partition, Iterator<byte[]> received, OpenState state);
}
