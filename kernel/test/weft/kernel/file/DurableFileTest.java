package weft.kernel.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A name is taken once, by a whole file, and nothing else is left in the folder. */
class DurableFileTest {
  @TempDir Path folder;

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(each -> each.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void theFirstWriterOfANameWins() throws IOException {
    Path file = folder.resolve("5");
    DurableFile.putIfAbsent(file, "one".getBytes());
    assertThrows(
        FileAlreadyExistsException.class, () -> DurableFile.putIfAbsent(file, "two".getBytes()));
    assertEquals("one", Files.readString(file));
    assertEquals(List.of("5"), names());
  }

  @Test
  void aPublishedFileMayReplaceAnother() throws IOException {
    Path file = Files.writeString(folder.resolve("5"), "one");
    Path next = Files.writeString(DurableFile.temporary(file), "two");
    assertTrue(DurableFile.isTemporary(next.getFileName().toString()));
    DurableFile.publish(next, file, true);
    assertEquals("two", Files.readString(file));
    assertEquals(List.of("5"), names());
  }

  @Test
  void aRealNameIsNotTakenForATemporaryOne() {
    assertFalse(DurableFile.isTemporary("5.tmp"));
    assertFalse(DurableFile.isTemporary(".5"));
  }

  @Test
  void foldersAreMadeWithThoseAboveThem() throws IOException {
    Path deep = folder.resolve("a/b/c");
    DurableFile.createFolder(deep);
    DurableFile.createFolder(deep);
    assertTrue(Files.isDirectory(deep));
    Files.writeString(folder.resolve("file"), "");
    assertThrows(
        FileAlreadyExistsException.class,
        () -> DurableFile.createFolder(folder.resolve("file/x").getParent()));
  }
}
