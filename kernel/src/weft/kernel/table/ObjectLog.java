package weft.kernel.table;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import weft.kernel.file.ConditionalFiles;

/** A table's log in an object store that creates a file only if there is none. */
final class ObjectLog implements LogStorage {
  private final Path folder;
  private final FileSystem files;

  ObjectLog(Path folder, FileSystem files) {
    this.folder = folder;
    this.files = files;
  }

  private Path file(long version) {
    return new Path(folder, LogStorage.fileName(version));
  }

  @Override
  public boolean exists(long version) throws IOException {
    return files.exists(file(version));
  }

  @Override
  public String read(long version) throws IOException {
    try (InputStream in = files.open(file(version))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Override
  public String floor() throws IOException {
    return LogStorage.floorIn(files, folder);
  }

  @Override
  public boolean putIfAbsent(long version, String text) throws IOException {
    return ConditionalFiles.putIfAbsent(
        files, file(version), text.getBytes(StandardCharsets.UTF_8));
  }
}
