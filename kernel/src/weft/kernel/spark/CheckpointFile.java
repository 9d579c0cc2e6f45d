package weft.kernel.spark;

import java.io.IOException;
import java.io.OutputStream;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;

/**
 * One checkpoint file on its way: closing it publishes the whole file under its name, cancelling
 * leaves nothing; only what comes first counts.
 */
abstract class CheckpointFile extends CancellableFSDataOutputStream {
  private boolean done;

  CheckpointFile(OutputStream content) {
    super(content);
  }

  abstract void publish() throws IOException;

  abstract void discard();

  @Override
  public final synchronized void close() throws IOException {
    if (!done) {
      done = true;
      publish();
    }
  }

  @Override
  public final synchronized void cancel() {
    if (!done) {
      done = true;
      discard();
    }
  }
}
