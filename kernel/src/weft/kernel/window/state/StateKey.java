package weft.kernel.window.state;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Keys of a bucket's state. Numbers are big-endian with the sign turned, so that bytes sort as
 * times do.
 */
public final class StateKey {
  public static final byte HEAD = 'h';
  public static final byte DESCRIPTION = 'd';
  static final byte LAYOUT = 'l';
  public static final byte SEGMENT = 's';
  static final byte REVISIONS = 'r';
  public static final byte KEY = 'k';
  static final byte AGENDA = 'a';

  private StateKey() {}

  public static byte[] head() {
    return new byte[] {HEAD};
  }

  /** What a reader of the state must know: the window and the types of its keys. */
  public static byte[] description() {
    return new byte[] {DESCRIPTION};
  }

  static byte[] layout(int id) {
    return ByteBuffer.allocate(5).put(LAYOUT).putInt(id).array();
  }

  public static byte[] segment(long slice, int part) {
    return ByteBuffer.allocate(13)
        .put(SEGMENT)
        .putLong(slice ^ Long.MIN_VALUE)
        .putInt(part)
        .array();
  }

  public static byte[] revisions(long end) {
    return ByteBuffer.allocate(9).put(REVISIONS).putLong(end ^ Long.MIN_VALUE).array();
  }

  static byte[] agenda(long time, int part) {
    return ByteBuffer.allocate(13).put(AGENDA).putLong(time ^ Long.MIN_VALUE).putInt(part).array();
  }

  public static byte[] key(byte[] key) {
    return ByteBuffer.allocate(1 + key.length).put(KEY).put(key).array();
  }

  public static long time(byte[] place) {
    return ByteBuffer.wrap(place).getLong(1) ^ Long.MIN_VALUE;
  }

  public static String text(byte[] value) {
    return new String(value, StandardCharsets.UTF_8);
  }

  public static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
