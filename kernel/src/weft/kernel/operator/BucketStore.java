package weft.kernel.operator;

import java.util.List;

/** The state of one bucket: bytes by bytes. The first byte of a key says what is kept under it. */
public interface BucketStore {
  /** The value of a key, or null. */
  byte[] get(byte[] key);

  void put(byte[] key, byte[] value);

  void remove(byte[] key);

  /** All keys that begin with some bytes and have a value. */
  List<byte[]> keys(byte[] prefix);
}
