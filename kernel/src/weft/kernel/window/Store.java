package weft.kernel.window;

/** The state of one bucket: bytes by bytes. The first byte of a key says what is kept under it. */
interface Store {
  /** The value of a key, or null. */
  byte[] get(byte[] key);

  void put(byte[] key, byte[] value);

  void remove(byte[] key);
}
