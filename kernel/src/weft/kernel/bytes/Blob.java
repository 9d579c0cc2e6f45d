package weft.kernel.bytes;

import java.util.Arrays;
import org.apache.spark.unsafe.Platform;

/** Bytes that grow while they are written and are read back in the same order. */
public final class Blob {
  private static final int START = 256;

  /** No array is longer on every JVM. */
  static final int MOST = Integer.MAX_VALUE - 8;

  private byte[] bytes;
  private int position;

  public Blob() {
    this(new byte[START], 0);
  }

  private Blob(byte[] bytes, int position) {
    this.bytes = bytes;
    this.position = position;
  }

  /** A blob that will hold about so many bytes. */
  public static Blob ofSize(long bytes) {
    return new Blob(new byte[sizeOf(bytes)], 0);
  }

  public static Blob reading(byte[] bytes) {
    return new Blob(bytes, 0);
  }

  public int position() {
    return position;
  }

  public void seek(int to) {
    position = to;
  }

  public byte[] array() {
    return bytes;
  }

  public boolean atEnd() {
    return position >= bytes.length;
  }

  public byte[] toArray() {
    return Arrays.copyOf(bytes, position);
  }

  public void putInt(int value) {
    reserve(Integer.BYTES);
    putIntAt(position, value);
    position += Integer.BYTES;
  }

  void putIntAt(int at, int value) {
    Platform.putInt(bytes, (long) Platform.BYTE_ARRAY_OFFSET + at, value);
  }

  public void putLong(long value) {
    reserve(Long.BYTES);
    Platform.putLong(bytes, (long) Platform.BYTE_ARRAY_OFFSET + position, value);
    position += Long.BYTES;
  }

  public void putLongs(long[] values, int from, int count) {
    reserve((long) count * Long.BYTES);
    Platform.copyMemory(
        values,
        Platform.LONG_ARRAY_OFFSET + (long) from * Long.BYTES,
        bytes,
        (long) Platform.BYTE_ARRAY_OFFSET + position,
        (long) count * Long.BYTES);
    position += count * Long.BYTES;
  }

  public void putRaw(Object base, long offset, int length) {
    reserve(length);
    Platform.copyMemory(base, offset, bytes, (long) Platform.BYTE_ARRAY_OFFSET + position, length);
    position += length;
  }

  /** Writes an array with its length before it; a null array has the length -1. */
  public void putArray(byte[] value) {
    if (value == null) {
      putInt(-1);
      return;
    }
    putInt(value.length);
    putRaw(value, Platform.BYTE_ARRAY_OFFSET, value.length);
  }

  void putByte(byte value) {
    reserve(1);
    bytes[position++] = value;
  }

  byte getByte() {
    return bytes[position++];
  }

  public int getInt() {
    int value = Platform.getInt(bytes, (long) Platform.BYTE_ARRAY_OFFSET + position);
    position += Integer.BYTES;
    return value;
  }

  public long getLong() {
    long value = Platform.getLong(bytes, (long) Platform.BYTE_ARRAY_OFFSET + position);
    position += Long.BYTES;
    return value;
  }

  public void getLongs(long[] into, int from, int count) {
    Platform.copyMemory(
        bytes,
        (long) Platform.BYTE_ARRAY_OFFSET + position,
        into,
        Platform.LONG_ARRAY_OFFSET + (long) from * Long.BYTES,
        (long) count * Long.BYTES);
    position += count * Long.BYTES;
  }

  public byte[] getArray() {
    int length = getInt();
    if (length < 0) {
      return null;
    }
    byte[] value = Arrays.copyOfRange(bytes, position, position + length);
    position += length;
    return value;
  }

  /** The bytes of an array where they stand; null for a null array. */
  public Slice getSlice() {
    int length = getInt();
    if (length < 0) {
      return null;
    }
    Slice value = new Slice(bytes, position, length);
    position += length;
    return value;
  }

  /** Writes bytes as {@link #putArray} does. */
  public void putSlice(Slice value) {
    if (value == null) {
      putInt(-1);
      return;
    }
    putInt(value.length());
    putRaw(value.array(), (long) Platform.BYTE_ARRAY_OFFSET + value.from(), value.length());
  }

  private void reserve(long more) {
    long wanted = position + more;
    if (wanted > bytes.length) {
      int twice = (int) Math.min(MOST, 2L * bytes.length);
      bytes = Arrays.copyOf(bytes, Math.max(twice, sizeOf(wanted)));
    }
  }

  private static int sizeOf(long bytes) {
    if (bytes > MOST) {
      throw new IllegalStateException(
          "A message or value of %d bytes is too large: it has 2 GB at most.".formatted(bytes));
    }
    return (int) bytes;
  }
}
