package weft.kernel.source;

import java.io.Closeable;
import java.io.IOException;

/** The records of a text, one after the other. */
interface TextRecords extends Closeable {
  /** The records of a range of a file: its lines, or what lines of CSV make up. */
  static TextRecords of(FileRange range) {
    TextLines lines = new TextLines(range);
    return range.separator() == null ? lines : new QuotedRecords(lines, range.separator());
  }

  /** Goes to the next record, if there is one. */
  boolean next() throws IOException;

  /** The bytes of the record, without its line end. */
  byte[] value();

  /** The number of the line that it begins with, from 1 on. */
  long line();

  /** Why the text cannot be read on, and this is what there is of its last record; or null. */
  String damage();
}
