package weft.kernel.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * The SHA-256 of a file's content, kept beside it as an attribute of the file: it costs no file of
 * its own, goes with links and copies, and shows whether anybody has changed the content since.
 * Where a file system keeps no attributes, files go without.
 */
public final class ContentSum {
  private static final String NAME = "weft.sha256";

  private ContentSum() {}

  public static void set(Path path, MessageDigest digest) {
    UserDefinedFileAttributeView view =
        Files.getFileAttributeView(path, UserDefinedFileAttributeView.class);
    if (view == null) {
      return;
    }
    String sum = HexFormat.of().formatHex(digest.digest());
    try {
      view.write(NAME, ByteBuffer.wrap(sum.getBytes(StandardCharsets.US_ASCII)));
    } catch (IOException | UnsupportedOperationException e) {
      // The file is whole without it; only a later change would go unnoticed.
      return;
    }
  }
}
