package weft.kernel.file;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Files of an object store that creates one only if there is none: the condition is judged by the
 * store itself when the whole file has arrived, so of two writers one learns that it was late.
 */
public final class ConditionalFiles {
  private static final String ONLY_IF_ABSENT = "fs.option.create.conditional.overwrite";

  private ConditionalFiles() {}

  /** Whether a file system can do so. */
  public static boolean areOf(FileSystem files, Path path) throws IOException {
    return files.hasPathCapability(path, ONLY_IF_ABSENT);
  }

  /** A file that appears when it is closed, or fails then if another was there first. */
  public static FSDataOutputStream create(FileSystem files, Path path) throws IOException {
    FSDataOutputStreamBuilder<?, ?> made = files.createFile(path);
    made.must(ONLY_IF_ABSENT, true);
    // The store judges, and nobody need look before.
    return made.recursive().overwrite(true).build();
  }

  /** Creates a file of this content; false when there is one already. */
  public static boolean putIfAbsent(FileSystem files, Path path, byte[] content)
      throws IOException {
    FSDataOutputStream out = create(files, path);
    try {
      out.write(content);
      out.close();
      return true;
    } catch (IOException e) {
      // Stores say in several ways that they were asked too late; that the file is there says it.
      if (files.exists(path)) {
        return false;
      }
      throw e;
    }
  }
}
