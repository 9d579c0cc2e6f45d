package weft.kernel.spark;

/** What is kept under a key. */
public record StateEntry(byte[] key, byte[] value) {}
