package weft.kernel.table;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import weft.kernel.file.DurableFile;

/** A table's log on a local disk. */
final class LocalLog implements LogStorage {
  private final Path folder;

  LocalLog(Path folder) {
    this.folder = folder;
  }

  @Override
  public boolean exists(long version) {
    return Files.exists(folder.resolve(LogStorage.fileName(version)));
  }

  @Override
  public String read(long version) throws IOException {
    return Files.readString(folder.resolve(LogStorage.fileName(version)));
  }

  @Override
  public String floor() throws IOException {
    Path file = folder.resolve(FLOOR);
    return Files.exists(file) ? Files.readString(file) : null;
  }

  @Override
  public boolean putIfAbsent(long version, String text) throws IOException {
    DurableFile.createFolder(folder);
    try {
      DurableFile.putIfAbsent(
          folder.resolve(LogStorage.fileName(version)), text.getBytes(StandardCharsets.UTF_8));
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    }
  }
}
