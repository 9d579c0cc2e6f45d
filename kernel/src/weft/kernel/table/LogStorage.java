package weft.kernel.table;

import java.io.IOException;

/** Where the numbered files of a table's log are kept. */
interface LogStorage {
  boolean exists(long version) throws IOException;

  /**
   * The text of a version; throws FileNotFoundException or NoSuchFileException when it is not
   * there.
   */
  String read(long version) throws IOException;

  /** Creates a version durably; false when it is there already. */
  boolean putIfAbsent(long version, String text) throws IOException;

  /** The file name that Delta gives to a version. */
  static String fileName(long version) {
    return String.format("%020d.json", version);
  }
}
