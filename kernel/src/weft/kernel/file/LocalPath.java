package weft.kernel.file;

import java.nio.file.Path;
import java.nio.file.Paths;
import org.apache.hadoop.fs.FileSystem;

/** Hadoop's paths that name files on this machine's disks. */
public final class LocalPath {
  private LocalPath() {}

  /** Whether a Hadoop file system keeps its files on this machine's disks. */
  public static boolean isLocal(FileSystem files) {
    return "file".equals(files.getUri().getScheme());
  }

  /** The local file that a Hadoop path names. */
  public static Path of(org.apache.hadoop.fs.Path path) {
    return Paths.get(path.toUri().getPath());
  }
}
