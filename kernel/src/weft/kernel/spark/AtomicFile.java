package weft.kernel.spark;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import weft.kernel.bytes.Sha256;
import weft.kernel.file.ContentSum;
import weft.kernel.file.DurableFile;

/** One checkpoint file on its way to a local disk. */
final class AtomicFile extends CheckpointFile {
  private static final int BUFFER_BYTES = 1 << 16;

  private static final Logger LOG = LoggerFactory.getLogger(AtomicFile.class);

  private final MessageDigest digest;
  private final Path temporary;
  private final Path target;
  private final boolean replace;

  AtomicFile(OutputStream content, Path temporary, Path target, boolean replace) {
    this(content, Sha256.digest(), temporary, target, replace);
  }

  private AtomicFile(
      OutputStream content, MessageDigest digest, Path temporary, Path target, boolean replace) {
    super(new BufferedOutputStream(new DigestOutputStream(content, digest), BUFFER_BYTES));
    this.digest = digest;
    this.temporary = temporary;
    this.target = target;
    this.replace = replace;
  }

  @Override
  void publish() throws IOException {
    try {
      underlyingStream().close();
      ContentSum.set(temporary, digest);
      DurableFile.sync(temporary);
      DurableFile.publish(temporary, target, replace);
    } catch (FileAlreadyExistsException e) {
      // Spark recognises a second writer by Hadoop's exception of the same name.
      throw new org.apache.hadoop.fs.FileAlreadyExistsException(target.toString());
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  @Override
  void discard() {
    try {
      underlyingStream().close();
      Files.deleteIfExists(temporary);
    } catch (IOException e) {
      // Whoever cancels already has an error to report; a temporary file that stays is never read.
      LOG.warn("The temporary file {} could not be removed.", temporary, e);
    }
  }
}
