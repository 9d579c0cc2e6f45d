package weft.kernel.source;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import weft.kernel.bytes.Sha256;

/**
 * The records of one text file between two places.
 *
 * @param path where it was found; null where there is nothing to read, and {@code reason} stands
 *     for its records
 * @param name records are called by it, their line, and {@code suffix}
 * @param line how many lines are before the first record
 * @param first how many bytes are before it; of a compressed file, of what is in it
 * @param end the byte behind the last record; negative for the end of the file
 * @param least how many bytes it has at least, or all of them if it is read as a {@code whole}
 * @param modified when a whole one was written, in nanoseconds
 * @param head the beginning of the sum of its first bytes, of {@code seen} of them; null if unknown
 * @param separator what stands between the values of CSV; null where each line is a record
 * @param reason why none of its records can be taken, or null
 */
record FileRange(
    String path,
    String name,
    String suffix,
    long line,
    long first,
    long end,
    long least,
    boolean whole,
    long modified,
    String head,
    int seen,
    String separator,
    String header,
    String reason)
    implements Serializable {

  static FileRange parse(JsonNode form) {
    return new FileRange(
        form.path("path").textValue(),
        form.path("name").asText(),
        form.path("suffix").asText(),
        form.path("line").asLong(),
        form.path("first").asLong(),
        form.path("end").asLong(-1),
        form.path("least").asLong(),
        form.path("whole").asBoolean(),
        form.path("modified").asLong(),
        form.path("head").textValue(),
        form.path("seen").asInt(),
        form.path("separator").textValue(),
        form.path("header").textValue(),
        form.path("reason").textValue());
  }

  boolean isCompressed() {
    return path.endsWith(".gz");
  }

  /** Refuses a file that is not the one that was found; it is then looked for anew. */
  void check() {
    try {
      Path file = Path.of(path);
      long size = Files.size(file);
      boolean isIt =
          whole
              ? size == least
                  && Files.getLastModifiedTime(file).to(TimeUnit.NANOSECONDS) == modified
              : size >= least;
      if (!isIt || head != null && !headOf(file).startsWith(head)) {
        throw changed();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  IllegalStateException changed() {
    return new IllegalStateException(
        "File " + path + " was changed when it was about to be read; it is looked at anew.");
  }

  private String headOf(Path file) throws IOException {
    MessageDigest sum = Sha256.digest();
    try (InputStream in = Files.newInputStream(file)) {
      sum.update(in.readNBytes(seen));
    }
    return HexFormat.of().formatHex(sum.digest());
  }
}
