package weft.kernel.hash;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.nio.charset.StandardCharsets;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.ByteSink;

/**
 * The id of a row that an operator makes: its stream, its numbers, and the MD5 of what else tells
 * it from others, as JSON; with slashes between. Used by one task; makes no garbage but the id.
 */
public final class MadeId {
  private static final int MD5_BYTES = 16;
  private static final int LONGEST_NUMBER = 20;
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] SMALLEST =
      Long.toString(Long.MIN_VALUE).getBytes(StandardCharsets.US_ASCII);
  private static final byte[] TRUE = {'t', 'r', 'u', 'e'};
  private static final byte[] FALSE = {'f', 'a', 'l', 's', 'e'};
  private static final long MICROS = 1000;

  /** What JSON has for a struct of one literal: what tells rows apart that have no key. */
  private static final byte[] NO_KEY = "{\"col1\":1}".getBytes(StandardCharsets.US_ASCII);

  private final byte[][] names;
  private final ByteSink id = new ByteSink();
  private final ByteSink key = new ByteSink();
  private final byte[] digits = new byte[LONGEST_NUMBER];
  private final byte[] hash = new byte[MD5_BYTES];
  private final MessageDigest md5 = md5();

  /** For rows that columns of these names tell from others. */
  public MadeId(List<String> names) {
    this.names =
        names.stream()
            .map(name -> "\"" + new String(JsonStringEncoder.getInstance().quoteAsString(name)))
            .map(name -> (name + "\":").getBytes(StandardCharsets.UTF_8))
            .toArray(byte[][]::new);
  }

  /** Begins the id of a row of a stream. */
  public void begin(UTF8String stream) {
    id.truncate(0);
    key.truncate(0);
    putText(id, stream);
  }

  /** A time in microseconds, of which the milliseconds tell. */
  public void putTime(long micros) {
    putNumber(Math.floorDiv(micros, MICROS));
  }

  public void putNumber(long number) {
    id.putByte('/');
    putDigits(id, number);
  }

  /** The value of a column that is no null; columns come in their order. */
  public void put(int column, long value) {
    putName(column);
    putDigits(key, value);
  }

  public void put(int column, boolean value) {
    putName(column);
    byte[] text = value ? TRUE : FALSE;
    key.putBytes(text, 0, text.length);
  }

  public void put(int column, UTF8String value) {
    putName(column);
    key.putByte('"');
    if (isPlain(value)) {
      putText(key, value);
    } else {
      char[] quoted = JsonStringEncoder.getInstance().quoteAsString(value.toString());
      byte[] bytes = new String(quoted).getBytes(StandardCharsets.UTF_8);
      key.putBytes(bytes, 0, bytes.length);
    }
    key.putByte('"');
  }

  /** The id of the row, after its columns. */
  public UTF8String end() {
    if (names.length == 0) {
      key.putBytes(NO_KEY, 0, NO_KEY.length);
    } else {
      if (key.size() == 0) {
        key.putByte('{');
      }
      key.putByte('}');
    }
    return finish();
  }

  /** The id of a row whose columns are JSON already. */
  public UTF8String end(UTF8String json) {
    putText(key, json);
    return finish();
  }

  private UTF8String finish() {
    md5.update(key.bytes(), 0, key.size());
    try {
      md5.digest(hash, 0, MD5_BYTES);
    } catch (DigestException e) {
      throw new IllegalStateException(e);
    }
    id.putByte('/');
    for (byte one : hash) {
      id.putByte(HEX[one >> 4 & 0xf]);
      id.putByte(HEX[one & 0xf]);
    }
    byte[] made = new byte[id.size()];
    System.arraycopy(id.bytes(), 0, made, 0, made.length);
    return UTF8String.fromBytes(made);
  }

  private void putName(int column) {
    key.putByte(key.size() == 0 ? '{' : ',');
    key.putBytes(names[column], 0, names[column].length);
  }

  /** Whether JSON has a text as it is. */
  private static boolean isPlain(UTF8String text) {
    int length = text.numBytes();
    for (int at = 0; at < length; at++) {
      byte one = text.getByte(at);
      if (one < ' ' || one == '"' || one == '\\') {
        return false;
      }
    }
    return true;
  }

  private static void putText(ByteSink out, UTF8String text) {
    out.putMemory(text.getBaseObject(), text.getBaseOffset(), text.numBytes());
  }

  private void putDigits(ByteSink out, long number) {
    if (number == Long.MIN_VALUE) {
      out.putBytes(SMALLEST, 0, SMALLEST.length);
      return;
    }
    int at = LONGEST_NUMBER;
    for (long left = Math.abs(number); at == LONGEST_NUMBER || left > 0; left /= 10) {
      digits[--at] = (byte) ('0' + left % 10);
    }
    if (number < 0) {
      digits[--at] = '-';
    }
    out.putBytes(digits, at, LONGEST_NUMBER - at);
  }

  private static MessageDigest md5() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("This Java has no MD5.", e);
    }
  }
}
