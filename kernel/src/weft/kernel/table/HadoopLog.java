package weft.kernel.table;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** A table's log in a file system of Hadoop's; how a version is created is the kind's own. */
abstract class HadoopLog implements LogStorage {
  final Path folder;
  final FileSystem files;

  HadoopLog(Path folder, FileSystem files) {
    this.folder = folder;
    this.files = files;
  }

  final Path file(long version) {
    return new Path(folder, LogStorage.fileName(version));
  }

  @Override
  public final boolean exists(long version) throws IOException {
    return files.exists(file(version));
  }

  @Override
  public final String read(long version) throws IOException {
    try (InputStream in = files.open(file(version))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Override
  public final String floor() throws IOException {
    return LogStorage.floorIn(files, folder);
  }
}
