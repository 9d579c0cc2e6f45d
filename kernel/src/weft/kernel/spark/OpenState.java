package weft.kernel.spark;

import java.util.Iterator;

/** The state of a partition while a task works on it: bytes by bytes. */
public interface OpenState extends AutoCloseable {
  /** Which state it is, of all that this process ever has open. */
  String name();

  /** The version that it was opened at. */
  long version();

  /** The value of a key, or null. */
  byte[] get(byte[] key);

  void put(byte[] key, byte[] value);

  void remove(byte[] key);

  /** What is kept under all keys that begin with some bytes. */
  Iterator<StateEntry> entries(byte[] prefix);

  /** Makes it the next version, on the disk when this returns; it is not used any more. */
  void commit();

  /** Lets go of it; what was not committed is forgotten. */
  @Override
  void close();

  /** How many entries it had when it was committed, where they are counted. */
  long size();

  /** How many bytes of memory it held when it was committed. */
  long bytes();
}
