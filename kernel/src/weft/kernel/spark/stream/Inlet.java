package weft.kernel.spark.stream;

import java.io.IOException;
import weft.kernel.operator.InputBatch;

/**
 * Something that a query reads, batch by batch; where it is in it, an offset says, which is a text.
 * Used by one thread at a time.
 */
public interface Inlet {
  /**
   * Where the next batch may end; where the last one has, when there is nothing new.
   *
   * @param from where the last one has ended; null before the first
   */
  String latest(String from) throws IOException;

  /**
   * What there is between two offsets.
   *
   * @param from where the batch before has ended; null before the first
   * @param to where this one ends; null where nothing was read yet
   */
  InputBatch batch(String from, String to) throws IOException;

  /** Has one more batch come, also when nothing is new. */
  default void tick() {}

  /** Everything up to here was read for good. */
  default void committed(String to) {}

  /** How far it goes by what it knows, whatever a batch admits; null where it does not say. */
  default String known() {
    return null;
  }

  /** Lets go of it. */
  default void stop() {}
}
