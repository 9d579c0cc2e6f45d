package weft.kernel.table;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import weft.kernel.file.ConditionalFiles;

/** A table's log in an object store that creates a file only if there is none. */
final class ObjectLog extends HadoopLog {
  ObjectLog(Path folder, FileSystem files) {
    super(folder, files);
  }

  @Override
  public boolean putIfAbsent(long version, String text) throws IOException {
    return ConditionalFiles.putIfAbsent(
        files, file(version), text.getBytes(StandardCharsets.UTF_8));
  }
}
