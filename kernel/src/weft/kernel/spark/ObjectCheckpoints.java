package weft.kernel.spark;

import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import weft.kernel.file.ConditionalFiles;

/**
 * Keeps Spark's checkpoint files in an object store that creates a file only if there is none.
 * Nothing is renamed, which there is a copy, and there are no folders to be made.
 */
final class ObjectCheckpoints implements CheckpointFileManager {
  private final Path root;
  private final FileSystem files;

  ObjectCheckpoints(Path root, FileSystem files) {
    this.root = root;
    this.files = files;
  }

  @Override
  public CancellableFSDataOutputStream createAtomic(Path path, boolean overwriteIfPossible) {
    try {
      FSDataOutputStream out =
          overwriteIfPossible
              ? files.createFile(path).recursive().overwrite(true).build()
              : ConditionalFiles.create(files, path);
      return new ObjectFile(out, files, path, overwriteIfPossible);
    } catch (IOException e) {
      throw Sneaky.raise(e);
    }
  }

  @Override
  public FSDataInputStream open(Path path) {
    try {
      return files.open(path);
    } catch (IOException e) {
      throw Sneaky.raise(e);
    }
  }

  @Override
  public FileStatus[] list(Path path, PathFilter filter) {
    try {
      return files.listStatus(path, filter);
    } catch (FileNotFoundException e) {
      return new FileStatus[0]; // a folder without files is none
    } catch (IOException e) {
      throw Sneaky.raise(e);
    }
  }

  @Override
  public void mkdirs(Path path) {}

  @Override
  public boolean exists(Path path) {
    try {
      return files.exists(path);
    } catch (IOException e) {
      throw Sneaky.raise(e);
    }
  }

  @Override
  public void delete(Path path) {
    try {
      files.delete(path, true);
    } catch (FileNotFoundException e) {
      return; // it is gone, as it should be
    } catch (IOException e) {
      throw Sneaky.raise(e);
    }
  }

  @Override
  public boolean isLocal() {
    return false;
  }

  @Override
  public Path createCheckpointDirectory() {
    return files.makeQualified(root);
  }
}
