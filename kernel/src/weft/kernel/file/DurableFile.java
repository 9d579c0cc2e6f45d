package weft.kernel.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/**
 * Files on a local disk that are either there whole and on the disk itself, or not there at all.
 */
public final class DurableFile {
  private static final String TEMPORARY = ".tmp";

  private DurableFile() {}

  /**
   * A new name beside {@code path} for its content until it is published; no reader takes it for a
   * real file.
   */
  public static Path temporary(Path path) {
    return path.resolveSibling("." + path.getFileName() + "." + UUID.randomUUID() + TEMPORARY);
  }

  /**
   * Whether a file name is one of {@link #temporary}'s, or of Spark's own manager, which names them
   * alike.
   */
  public static boolean isTemporary(String name) {
    return name.startsWith(".") && name.endsWith(TEMPORARY);
  }

  /**
   * Creates {@code path} with this content, or throws FileAlreadyExistsException and leaves the old
   * one alone.
   */
  public static void putIfAbsent(Path path, byte[] content) throws IOException {
    Path temporary = temporary(path);
    try {
      try (FileChannel out =
          FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
        ByteBuffer bytes = ByteBuffer.wrap(content);
        while (bytes.hasRemaining()) {
          out.write(bytes);
        }
        out.force(false);
      }
      publish(temporary, path, false);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  /**
   * Gives a written and synced temporary file its real name in one step, and syncs the name too.
   */
  public static void publish(Path temporary, Path path, boolean replace) throws IOException {
    if (replace) {
      Files.move(
          temporary, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } else {
      // A link, unlike a rename, fails when the name is taken.
      Files.createLink(path, temporary);
      Files.delete(temporary);
    }
    syncFolder(path.getParent());
  }

  /** Makes the content of a file that someone else wrote survive a power cut. */
  public static void sync(Path path) throws IOException {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      file.force(false);
    }
  }

  /** Makes the names in a folder survive a power cut. */
  public static void syncFolder(Path folder) throws IOException {
    try (FileChannel names = FileChannel.open(folder, StandardOpenOption.READ)) {
      names.force(true);
    }
  }

  /** Creates a folder and those above it, and makes their names durable. */
  public static void createFolder(Path folder) throws IOException {
    if (Files.isDirectory(folder)) {
      return;
    }
    Path parent = folder.toAbsolutePath().getParent();
    if (parent != null) {
      createFolder(parent);
    }
    try {
      Files.createDirectory(folder);
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(folder)) {
        throw e;
      }
    }
    if (parent != null) {
      syncFolder(parent);
    }
  }
}
