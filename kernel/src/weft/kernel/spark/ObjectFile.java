package weft.kernel.spark;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** One checkpoint file on its way to an object store, where it appears when it is closed. */
final class ObjectFile extends CheckpointFile {
  private final FSDataOutputStream out;
  private final FileSystem files;
  private final Path target;
  private final boolean replace;

  ObjectFile(FSDataOutputStream out, FileSystem files, Path target, boolean replace) {
    super(out);
    this.out = out;
    this.files = files;
    this.target = target;
    this.replace = replace;
  }

  @Override
  void publish() throws IOException {
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
  void discard() {
    out.abort();
  }
}
