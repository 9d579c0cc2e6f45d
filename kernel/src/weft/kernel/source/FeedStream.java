package weft.kernel.source;

import weft.kernel.spark.StoredFolder;

/**
 * The running side of {@link FeedSource}: the next segment, when it is there, is the next batch.
 */
final class FeedStream extends SegmentStream {
  FeedStream(StoredFolder folder) {
    super(folder);
  }

  @Override
  CountOffset next(CountOffset start) {
    CountOffset next = start.plus(1);
    return has(next) ? next : null;
  }
}
