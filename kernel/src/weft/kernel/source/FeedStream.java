package weft.kernel.source;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The running side of {@link FeedSource}: the next segment, when it is there, is the next batch.
 */
final class FeedStream extends SegmentStream {
  FeedStream(Path folder) {
    super(folder);
  }

  @Override
  CountOffset next(CountOffset start) {
    CountOffset next = start.plus(1);
    return Files.exists(file(next)) ? next : null;
  }
}
