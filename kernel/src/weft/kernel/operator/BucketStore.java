package weft.kernel.operator;

import java.util.Iterator;
import weft.kernel.spark.StateEntry;

/** The state of one bucket: bytes by bytes. The first byte of a key says what is kept under it. */
public interface BucketStore {
  /** The value of a key, or null. */
  byte[] get(byte[] key);

  void put(byte[] key, byte[] value);

  void remove(byte[] key);

  /** What is kept under all keys that begin with some bytes, which the keys are told without. */
  Iterator<StateEntry> entries(byte[] prefix);

  /** What of it is in memory from the batch before. */
  Warm warm();
}
