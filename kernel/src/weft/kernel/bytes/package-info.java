/**
 * Bytes in memory.
 *
 * <p>{@link weft.kernel.bytes.Blob} is written and read back, for state and messages. {@link
 * weft.kernel.bytes.ByteSink} is only written, for hashes, whose digest {@link
 * weft.kernel.bytes.Sha256} makes. {@link weft.kernel.bytes.Lent} is what tasks borrow, as bytes on
 * its way to them.
 */
package weft.kernel.bytes;
