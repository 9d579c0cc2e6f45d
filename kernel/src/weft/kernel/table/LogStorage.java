package weft.kernel.table;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

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

  /** The text that says where the log begins, or null when it is whole. */
  default String floor() throws IOException {
    return null;
  }

  /** The file that says where a log begins; other tools pass it over. */
  String FLOOR = "_weft_floor.json";

  /** The text that says where the log in a folder begins, or null when it is whole. */
  static String floorIn(FileSystem files, Path folder) throws IOException {
    Path file = new Path(folder, FLOOR);
    if (!files.exists(file)) {
      return null;
    }
    try (InputStream in = files.open(file)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** The file name that Delta gives to a version. */
  static String fileName(long version) {
    return String.format("%020d.json", version);
  }
}
