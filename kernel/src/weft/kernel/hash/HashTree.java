package weft.kernel.hash;

import java.security.DigestException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import weft.kernel.bytes.Sha256;

/**
 * A tree over hashes in their order, whose root commits to each of them: any one is proven by the
 * few that stand beside it on its way up. Sixteen hashes make a node of the level above, the last
 * node of a level may have fewer, and the one that is alone on its level is the root. Takes hashes
 * as they come, and keeps a node a level.
 */
public final class HashTree {
  static final int WIDTH = 16;
  private static final int HASH_BYTES = 32;

  /**
   * Begins what a node is hashed from. No record's canonical form begins so: it would be the
   * position of a column beyond two billion. So no node passes for a record.
   */
  private static final byte[] NODE = {-1, -1, -1, -1, -1};

  private final MessageDigest sha256 = Sha256.digest();
  private final byte[] made = new byte[HASH_BYTES];
  private final List<Level> levels = new ArrayList<>();

  /** The node of a level that is not full yet. */
  private static final class Level {
    final byte[] bytes = new byte[NODE.length + WIDTH * HASH_BYTES];
    int count;

    Level() {
      System.arraycopy(NODE, 0, bytes, 0, NODE.length);
    }

    int size() {
      return NODE.length + count * HASH_BYTES;
    }
  }

  /** Adds the 32 bytes of the next hash. */
  public void add(byte[] hash) {
    add(0, hash);
  }

  private void add(int height, byte[] hash) {
    if (levels.size() == height) {
      levels.add(new Level());
    }
    Level level = levels.get(height);
    System.arraycopy(hash, 0, level.bytes, level.size(), HASH_BYTES);
    level.count++;
    if (level.count == WIDTH) {
      close(height);
    }
  }

  private void close(int height) {
    Level level = levels.get(height);
    sha256.update(level.bytes, 0, level.size());
    try {
      sha256.digest(made, 0, HASH_BYTES);
    } catch (DigestException e) {
      throw new IllegalStateException(e);
    }
    level.count = 0;
    add(height + 1, made);
  }

  /** The root as 64 hexadecimal digits, null when nothing was added; ends the tree. */
  public String root() {
    if (levels.isEmpty()) {
      return null;
    }
    int height = 0;
    while (height == 0 || height < levels.size() - 1 || levels.get(height).count > 1) {
      if (levels.get(height).count > 0) {
        close(height);
      }
      height++;
    }
    int end = NODE.length + HASH_BYTES;
    return HexFormat.of().formatHex(levels.get(height).bytes, NODE.length, end);
  }
}
