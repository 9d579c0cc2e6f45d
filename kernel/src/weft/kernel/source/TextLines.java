package weft.kernel.source;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.zip.ZipException;

/** The lines of a range of a file; what stands last without an end is one too. */
final class TextLines implements TextRecords {
  private static final int BUFFER_BYTES = 1 << 18;

  private final FileRange range;
  private InputStream in;
  private byte[] buffer = new byte[BUFFER_BYTES];
  private int from;
  private int to;
  private long read;
  private long number;
  private byte[] line;
  private String damage;
  private boolean hasEnded;
  private boolean isTold;

  TextLines(FileRange range) {
    this.range = range;
    this.number = range.line();
  }

  @Override
  public boolean next() throws IOException {
    int looked = 0;
    while (!hasEnded) {
      for (int at = from + looked; at < to; at++) {
        if (buffer[at] == '\n') {
          take(at, at + 1);
          return true;
        }
      }
      looked = to - from;
      hasEnded = !fill();
    }
    boolean isLine = from < to || damage != null && !isTold;
    isTold = true;
    if (isLine) {
      take(to, to);
    }
    return isLine;
  }

  private void take(int end, int next) {
    line = Arrays.copyOfRange(buffer, from, end);
    from = next;
    number++;
  }

  /** Reads on behind what is in the buffer; whether there was more. */
  private boolean fill() throws IOException {
    if (from > 0) {
      System.arraycopy(buffer, from, buffer, 0, to - from);
      to -= from;
      from = 0;
    } else if (to == buffer.length) {
      buffer = Arrays.copyOf(buffer, 2 * to);
    }
    long left = range.end() < 0 ? Long.MAX_VALUE : range.end() - range.first() - read;
    if (left == 0) {
      return false;
    }
    int found = read((int) Math.min(buffer.length - to, left));
    if (found < 0 && damage == null && range.end() >= 0) {
      throw range.changed();
    }
    read += Math.max(found, 0);
    to += Math.max(found, 0);
    return found >= 0;
  }

  private int read(int most) throws IOException {
    try {
      if (in == null) {
        in = TextStreams.open(range);
      }
      return in.read(buffer, to, most);
    } catch (EOFException | ZipException e) {
      damage = "the file cannot be read on: " + e.getMessage();
      return -1;
    }
  }

  @Override
  public byte[] value() {
    return line;
  }

  @Override
  public long line() {
    return number;
  }

  @Override
  public String damage() {
    return hasEnded ? damage : null;
  }

  @Override
  public void close() throws IOException {
    if (in != null) {
      TextStreams.close(range, in, damage == null ? range.first() + read : -1);
      in = null;
    }
  }
}
