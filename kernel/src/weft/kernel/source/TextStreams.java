package weft.kernel.source;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/**
 * Opens files at any of their bytes. A compressed one stays open where it was read to: the next
 * batch would have to unpack it from its beginning again.
 */
final class TextStreams {
  private static final int LEFT_OPEN = 4;
  private static final int BUFFER_BYTES = 1 << 16;

  /** The place in a compressed file to which it was unpacked. */
  private record Unpacked(String path, long modified, long at) {}

  private static final Map<Unpacked, InputStream> OPEN = new LinkedHashMap<>();

  private TextStreams() {}

  static InputStream open(FileRange range) throws IOException {
    if (!range.isCompressed()) {
      FileInputStream file = new FileInputStream(range.path());
      file.getChannel().position(range.first());
      return file;
    }
    InputStream known = taken(new Unpacked(range.path(), range.modified(), range.first()));
    if (known != null) {
      return known;
    }
    if (range.least() == 0) {
      return InputStream.nullInputStream(); // nothing is packed in nothing
    }
    FileInputStream file = new FileInputStream(range.path());
    try {
      InputStream unpacked = new GZIPInputStream(file, BUFFER_BYTES);
      unpacked.skipNBytes(range.first());
      return unpacked;
    } catch (IOException e) {
      file.close();
      throw e;
    }
  }

  /** Lets go of a file that was read up to a byte, which is negative if it is not read on. */
  static void close(FileRange range, InputStream in, long at) throws IOException {
    if (!range.isCompressed() || range.end() < 0 || at < 0) {
      in.close();
      return;
    }
    InputStream former;
    InputStream eldest = null;
    synchronized (OPEN) {
      former = OPEN.put(new Unpacked(range.path(), range.modified(), at), in);
      if (OPEN.size() > LEFT_OPEN) {
        eldest = OPEN.remove(OPEN.keySet().iterator().next());
      }
    }
    for (InputStream one : new InputStream[] {former, eldest}) {
      if (one != null) {
        one.close();
      }
    }
  }

  private static InputStream taken(Unpacked place) {
    synchronized (OPEN) {
      return OPEN.remove(place);
    }
  }
}
