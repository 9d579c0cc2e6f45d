package weft.kernel.window;

/** What a bucket keeps beside its head: the windows of each key, and the agenda's lists of keys. */
interface KeyStore {
  byte[] windows(byte[] key);

  void keepWindows(byte[] key, byte[] windows);

  void dropWindows(byte[] key);

  byte[] keys(long time, int part);

  void keepKeys(long time, int part, byte[] keys);

  void dropKeys(long time, int part);
}
