package weft.kernel.spark;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import weft.kernel.file.ConditionalFiles;
import weft.kernel.file.DurableFile;
import weft.kernel.file.LocalPath;

/**
 * Keeps Spark's checkpoint files on a local disk, each written, synced and published in one step;
 * executors of their own use it too, so with them the disk must be one that all share. In an object
 * store {@link ObjectCheckpoints} does the work, on any other storage Spark's own manager. Set as
 * {@code spark.sql.streaming.checkpointFileManagerClass}.
 */
public final class LocalCheckpoints implements CheckpointFileManager {
  private static final String SETTING = "spark.sql.streaming.checkpointFileManagerClass";

  private final Path root;
  private final FileSystem files;
  private final CheckpointFileManager elsewhere;

  /** Called by Spark. */
  public LocalCheckpoints(Path root, Configuration conf) throws IOException {
    this.root = root;
    this.files = root.getFileSystem(conf);
    if (LocalPath.isLocal(files)) {
      this.elsewhere = null;
    } else {
      this.elsewhere =
          ConditionalFiles.areOf(files, root)
              ? new ObjectCheckpoints(root, files)
              : CheckpointFileManager.create(root, stock(conf));
    }
  }

  private static Configuration stock(Configuration conf) {
    Configuration stock = new Configuration(conf);
    stock.unset(SETTING);
    return stock;
  }

  @Override
  public CancellableFSDataOutputStream createAtomic(Path path, boolean overwriteIfPossible) {
    if (elsewhere != null) {
      return elsewhere.createAtomic(path, overwriteIfPossible);
    }
    java.nio.file.Path target = LocalPath.of(path);
    java.nio.file.Path temporary = DurableFile.temporary(target);
    try {
      return new AtomicFile(create(temporary), temporary, target, overwriteIfPossible);
    } catch (IOException e) {
      throw Sneaky.raise(e);
    }
  }

  private static OutputStream create(java.nio.file.Path file) throws IOException {
    try {
      return Files.newOutputStream(file);
    } catch (NoSuchFileException e) {
      DurableFile.createFolder(file.getParent());
      return Files.newOutputStream(file);
    }
  }

  @Override
  public FSDataInputStream open(Path path) {
    if (elsewhere != null) {
      return elsewhere.open(path);
    }
    try {
      return files.open(path);
    } catch (IOException e) {
      throw Sneaky.raise(e);
    }
  }

  @Override
  public FileStatus[] list(Path path, PathFilter filter) {
    if (elsewhere != null) {
      return elsewhere.list(path, filter);
    }
    try {
      return files.listStatus(path, p -> !DurableFile.isTemporary(p.getName()) && filter.accept(p));
    } catch (IOException e) {
      throw Sneaky.raise(e);
    }
  }

  @Override
  public void mkdirs(Path path) {
    if (elsewhere != null) {
      elsewhere.mkdirs(path);
      return;
    }
    try {
      DurableFile.createFolder(LocalPath.of(path));
    } catch (IOException e) {
      throw Sneaky.raise(e);
    }
  }

  @Override
  public boolean exists(Path path) {
    return elsewhere != null ? elsewhere.exists(path) : Files.exists(LocalPath.of(path));
  }

  @Override
  public void delete(Path path) {
    if (elsewhere != null) {
      elsewhere.delete(path);
      return;
    }
    try {
      java.nio.file.Path target = LocalPath.of(path);
      if (Files.isDirectory(target)) {
        files.delete(path, true);
      } else {
        Files.deleteIfExists(target);
      }
    } catch (IOException e) {
      throw Sneaky.raise(e);
    }
  }

  @Override
  public boolean isLocal() {
    return elsewhere == null || elsewhere.isLocal();
  }

  @Override
  public Path createCheckpointDirectory() {
    if (elsewhere != null) {
      return elsewhere.createCheckpointDirectory();
    }
    Path qualified = files.makeQualified(root);
    mkdirs(qualified);
    return qualified;
  }
}
