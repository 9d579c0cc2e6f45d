package weft.kernel.spark;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;

/**
 * One checkpoint file on its way to an object store, where it appears whole when it is closed;
 * cancelling leaves nothing.
 */
final class ObjectFile extends CancellableFSDataOutputStream {
  private final FSDataOutputStream out;
  private final FileSystem files;
  private final Path target;
  private final boolean replace;
  private boolean done;

  ObjectFile(FSDataOutputStream out, FileSystem files, Path target, boolean replace) {
    super(out);
    this.out = out;
    this.files = files;
    this.target = target;
    this.replace = replace;
  }

  @Override
  public synchronized void close() throws IOException {
    if (done) {
      return;
    }
    done = true;
    try {
      out.close();
    } catch (IOException e) {
      if (!replace && files.exists(target)) {
        // Spark recognises a second writer by this.
        throw new FileAlreadyExistsException(target.toString());
      }
      throw e;
    }
  }

  @Override
  public synchronized void cancel() {
    if (!done) {
      done = true;
      out.abort();
    }
  }
}
