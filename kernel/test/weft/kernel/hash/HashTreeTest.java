package weft.kernel.hash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import weft.kernel.bytes.Sha256;

/** A tree that takes hashes as they come has the root of one that is built level by level. */
class HashTreeTest {
  private final RandomHashes random = new RandomHashes(11);

  private static String root(List<byte[]> hashes) {
    HashTree tree = new HashTree();
    hashes.forEach(tree::add);
    return tree.root();
  }

  private static String levelByLevel(List<byte[]> hashes) {
    List<byte[]> level = hashes;
    do {
      List<byte[]> above = new ArrayList<>();
      for (int first = 0; first < level.size(); first += HashTree.WIDTH) {
        ByteArrayOutputStream node = new ByteArrayOutputStream();
        node.writeBytes(HexFormat.of().parseHex("ffffffffff"));
        int end = Math.min(first + HashTree.WIDTH, level.size());
        level.subList(first, end).forEach(node::writeBytes);
        above.add(Sha256.digest().digest(node.toByteArray()));
      }
      level = above;
    } while (level.size() > 1);
    return HexFormat.of().formatHex(level.get(0));
  }

  @Test
  void hasTheRootOfATreeBuiltLevelByLevel() {
    for (int count = 1; count <= 300; count++) {
      List<byte[]> hashes = random.next(count);
      assertEquals(levelByLevel(hashes), root(hashes), count + " hashes");
    }
    for (int count : new int[] {4095, 4096, 4097, 5000, 65536, 65537}) {
      List<byte[]> hashes = random.next(count);
      assertEquals(levelByLevel(hashes), root(hashes), count + " hashes");
    }
  }

  @Test
  void hasNoRootWithoutHashes() {
    assertNull(root(List.of()));
  }

  @Test
  void changesWithEveryHashAndWithTheirOrder() {
    List<byte[]> hashes = random.next(100);
    String before = root(hashes);
    for (int place : new int[] {0, 15, 16, 99}) {
      hashes.get(place)[31] ^= 1;
      assertNotEquals(before, root(hashes));
      hashes.get(place)[31] ^= 1;
    }
    Collections.swap(hashes, 3, 4);
    assertNotEquals(before, root(hashes));
  }
}
