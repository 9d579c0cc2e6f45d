package weft.kernel.source;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Records of CSV: a line end inside quotes is part of a value. {@link CsvFields} takes records
 * apart by the same rules, and {@code weft.sources.quotes} finds by them how far a batch reaches.
 */
final class QuotedRecords implements TextRecords {
  /** A record that is longer has a quote too many: its first line stands alone then. */
  private static final int MOST_BYTES = 1 << 20;

  private final TextLines lines;
  private final byte[] separator;
  private final List<Line> open = new ArrayList<>();
  private final Deque<Line> waiting = new ArrayDeque<>();
  private long size;
  private Line last;
  private byte[] value;
  private long line;
  private String damage;

  private record Line(byte[] bytes, long number) {}

  QuotedRecords(TextLines lines, String separator) {
    this.lines = lines;
    this.separator = separator.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public boolean next() throws IOException {
    while (true) {
      Line found = waiting.isEmpty() ? read() : waiting.poll();
      if (found == null) {
        return open.isEmpty() ? endDamaged() : giveUp();
      }
      boolean isInside = endsInside(found.bytes(), !open.isEmpty());
      open.add(found);
      size += found.bytes().length + 1;
      if (!isInside) {
        return join();
      } else if (size > MOST_BYTES) {
        return giveUp();
      }
    }
  }

  private Line read() throws IOException {
    if (last != null || !lines.next()) {
      return null;
    }
    Line found = new Line(lines.value(), lines.line());
    if (lines.damage() != null) {
      last = found;
      return null;
    }
    return found;
  }

  private boolean join() {
    line = open.get(0).number();
    if (open.size() == 1) {
      value = open.get(0).bytes();
    } else {
      ByteArrayOutputStream joined = new ByteArrayOutputStream((int) size);
      for (Line one : open) {
        if (one != open.get(0)) {
          joined.write('\n');
        }
        joined.writeBytes(one.bytes());
      }
      value = joined.toByteArray();
    }
    forget();
    return true;
  }

  /** The first line as it is; those behind it are looked at anew. */
  private boolean giveUp() {
    value = open.get(0).bytes();
    line = open.get(0).number();
    for (int at = open.size() - 1; at > 0; at--) {
      waiting.addFirst(open.get(at));
    }
    forget();
    return true;
  }

  private void forget() {
    open.clear();
    size = 0;
  }

  private boolean endDamaged() {
    if (last == null || damage != null) {
      return false;
    }
    value = last.bytes();
    line = last.number();
    damage = lines.damage();
    return true;
  }

  /** Whether a line that begins inside or outside of quotes ends inside of them. */
  private boolean endsInside(byte[] bytes, boolean isInside) {
    boolean inside = isInside;
    int at = 0;
    while (true) {
      if (inside || at < bytes.length && bytes[at] == '"') {
        at = behindQuote(bytes, inside ? at : at + 1);
        if (at < 0) {
          return true;
        }
        inside = false;
      }
      at = behindSeparator(bytes, at);
      if (at < 0) {
        return false;
      }
    }
  }

  /** The place behind the quote that closes a value, or -1 when there is none. */
  private static int behindQuote(byte[] bytes, int from) {
    int at = from;
    while (at < bytes.length) {
      if (bytes[at] != '"') {
        at++;
      } else if (at + 1 < bytes.length && bytes[at + 1] == '"') {
        at += 2;
      } else {
        return at + 1;
      }
    }
    return -1;
  }

  private int behindSeparator(byte[] bytes, int from) {
    for (int at = from; at + separator.length <= bytes.length; at++) {
      int same = 0;
      while (same < separator.length && bytes[at + same] == separator[same]) {
        same++;
      }
      if (same == separator.length) {
        return at + same;
      }
    }
    return -1;
  }

  @Override
  public byte[] value() {
    return value;
  }

  @Override
  public long line() {
    return line;
  }

  @Override
  public String damage() {
    return damage;
  }

  @Override
  public void close() throws IOException {
    lines.close();
  }
}
