package weft.kernel.bytes;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.spark.unsafe.Platform;

/** A growing byte array with big-endian writes, used again for each record. */
public final class ByteSink {
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private byte[] bytes = new byte[1024];
  private int size;

  public byte[] bytes() {
    return bytes;
  }

  public int size() {
    return size;
  }

  public void truncate(int length) {
    size = length;
  }

  private void reserve(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(Math.addExact(size, more), bytes.length * 2));
    }
  }

  public void putByte(int value) {
    reserve(1);
    bytes[size++] = (byte) value;
  }

  public void putShort(int value) {
    reserve(2);
    SHORT.set(bytes, size, (short) value);
    size += 2;
  }

  public void putInt(int value) {
    reserve(4);
    INT.set(bytes, size, value);
    size += 4;
  }

  public void putLong(long value) {
    reserve(8);
    LONG.set(bytes, size, value);
    size += 8;
  }

  /**
   * A count or length: seven bits a byte, the lowest first, the high bit set on all but the last.
   */
  public void putCount(int value) {
    reserve(5);
    int rest = value;
    while ((rest & ~0x7f) != 0) {
      bytes[size++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[size++] = (byte) rest;
  }

  /** Copies from Spark's memory. */
  public void putMemory(Object base, long offset, int length) {
    reserve(length);
    Platform.copyMemory(base, offset, bytes, Platform.BYTE_ARRAY_OFFSET + size, length);
    size += length;
  }

  public void putBytes(byte[] source, int from, int length) {
    reserve(length);
    System.arraycopy(source, from, bytes, size, length);
    size += length;
  }
}
