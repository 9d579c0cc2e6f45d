/**
 * Bytes in memory.
 *
 * <p>{@link weft.kernel.bytes.Blob} is written and read back, for state and messages. {@link
 * weft.kernel.bytes.ByteSink} is only written, for hashes, whose digest {@link
 * weft.kernel.bytes.Sha256} makes.
 */
package weft.kernel.bytes;
