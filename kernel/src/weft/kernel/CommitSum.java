package weft.kernel;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The checksum that a commit names of its own text, so that one changed byte of a table's log is
 * noticed.
 */
final class CommitSum {
  /** What stands in the sum's place while it is taken. */
  static final String BLANK = "0".repeat(64);

  private CommitSum() {}

  /** The text with the SHA-256 of itself in place of the first blank. */
  static String fill(String text) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] sum = digest.digest(text.getBytes(StandardCharsets.UTF_8));
      return text.replaceFirst(BLANK, HexFormat.of().formatHex(sum));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("This Java has no SHA-256.", e);
    }
  }
}
