package weft.kernel.source;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads ranges of files in raw form, one after the other. Blank records are left out, and keep
 * their numbers.
 */
final class FileRecords implements PartitionReader<InternalRow> {
  private static final int PARTITION = 0;
  private static final int DIGITS = 20;

  private final Iterator<FileRange> ranges;
  private final byte[] digits = new byte[DIGITS];
  private TextRecords records;
  private byte[] before;
  private byte[] behind;
  private UTF8String header;
  private UTF8String reason;
  private InternalRow row;

  FileRecords(List<FileRange> ranges) {
    this.ranges = ranges.iterator();
  }

  @Override
  public boolean next() throws IOException {
    while (true) {
      if (records != null) {
        if (readOn()) {
          return true;
        }
        records.close();
        records = null;
      }
      if (!ranges.hasNext()) {
        return false;
      }
      if (enter(ranges.next())) {
        return true;
      }
    }
  }

  /** Begins a range; whether it is one record by itself. */
  private boolean enter(FileRange next) throws IOException {
    before = (next.name() + "#").getBytes(StandardCharsets.UTF_8);
    behind = next.suffix().getBytes(StandardCharsets.UTF_8);
    header = UTF8String.fromString(next.header());
    reason = UTF8String.fromString(next.reason());
    if (next.path() == null) {
      row = row(new byte[0], next.line() + 1, reason, null);
      return true;
    }
    next.check();
    records = TextRecords.of(next);
    return false;
  }

  private boolean readOn() throws IOException {
    while (records.next()) {
      String damage = records.damage();
      byte[] record = damage == null ? kept(records.value()) : records.value();
      if (record != null) {
        UTF8String bad = damage == null ? reason : UTF8String.fromString(damage);
        row = row(record, records.line(), bad, header);
        return true;
      }
    }
    return false;
  }

  /** A record without what the line ends of Windows leave, or null if it is blank. */
  private static byte[] kept(byte[] record) {
    int at = 0;
    while (at < record.length && isBlank(record[at])) {
      at++;
    }
    if (at == record.length) {
      return null;
    }
    int last = record.length - 1;
    return record[last] == '\r' ? Arrays.copyOf(record, last) : record;
  }

  private static boolean isBlank(byte one) {
    return one == ' ' || one >= '\t' && one <= '\r';
  }

  private InternalRow row(byte[] value, long line, UTF8String bad, UTF8String columns) {
    Object[] values = {value, PARTITION, position(line), null, bad, columns};
    return new GenericInternalRow(values);
  }

  /** Where a record stands: the name of its file and its line. */
  private UTF8String position(long line) {
    int at = DIGITS;
    for (long left = line; at == DIGITS || left > 0; left /= 10) {
      digits[--at] = (byte) ('0' + left % 10);
    }
    int length = DIGITS - at;
    byte[] made = new byte[before.length + length + behind.length];
    System.arraycopy(before, 0, made, 0, before.length);
    System.arraycopy(digits, at, made, before.length, length);
    System.arraycopy(behind, 0, made, before.length + length, behind.length);
    return UTF8String.fromBytes(made);
  }

  @Override
  public InternalRow get() {
    return row;
  }

  @Override
  public void close() throws IOException {
    if (records != null) {
      records.close();
      records = null;
    }
  }
}
