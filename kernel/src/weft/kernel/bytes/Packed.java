package weft.kernel.bytes;

import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;
import org.apache.spark.unsafe.Platform;

/**
 * Bytes as they are kept: many of them compressed, a few as they are. What is written again and
 * again costs more by its length than by its compression.
 */
public final class Packed {
  private static final byte PLAIN = 0;
  private static final byte LZ4 = 1;
  private static final int HEAD = 1 + Integer.BYTES;

  /** From so many bytes on they are compressed. */
  static final int MANY = 512;

  private static final LZ4Compressor COMPRESSOR = LZ4Factory.fastestInstance().fastCompressor();
  private static final LZ4SafeDecompressor DECOMPRESSOR =
      LZ4Factory.fastestInstance().safeDecompressor();

  private Packed() {}

  /** What was written to a blob. */
  public static byte[] pack(Blob written) {
    int length = written.position();
    if (length < MANY) {
      Blob plain = Blob.ofSize(1 + length);
      plain.putByte(PLAIN);
      plain.putRaw(written.array(), Platform.BYTE_ARRAY_OFFSET, length);
      return plain.array();
    }
    byte[] most = new byte[HEAD + COMPRESSOR.maxCompressedLength(length)];
    Blob packed = Blob.reading(most);
    packed.putByte(LZ4);
    packed.putInt(length);
    int size = COMPRESSOR.compress(written.array(), 0, length, most, HEAD);
    packed.seek(HEAD + size);
    return packed.toArray();
  }

  /** The blob that was packed, at its beginning. */
  public static Blob unpack(byte[] packed) {
    Blob in = Blob.reading(packed);
    if (in.getByte() == PLAIN) {
      return in;
    }
    byte[] bytes = new byte[in.getInt()];
    DECOMPRESSOR.decompress(packed, HEAD, packed.length - HEAD, bytes, 0);
    return Blob.reading(bytes);
  }
}
