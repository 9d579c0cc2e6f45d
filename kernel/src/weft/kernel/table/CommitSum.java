package weft.kernel.table;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import weft.kernel.bytes.Sha256;

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
    byte[] sum = Sha256.digest().digest(text.getBytes(StandardCharsets.UTF_8));
    return text.replaceFirst(BLANK, HexFormat.of().formatHex(sum));
  }
}
