package weft.kernel.source;

import org.apache.spark.sql.connector.read.streaming.Offset;
import weft.kernel.spark.StoredFolder;

/** The running side of {@link JournalSource}: one segment is one batch. */
final class JournalStream extends SegmentStream {
  private final Journal journal;

  JournalStream(StoredFolder folder, Journal journal) {
    super(folder);
    if (journal == null) {
      throw new IllegalStateException("No journal is open for " + folder + ".");
    }
    this.journal = journal;
  }

  @Override
  CountOffset next(CountOffset start) {
    long next = journal.next(start.count());
    return next > start.count() ? start.plus(next - start.count()) : null;
  }

  @Override
  public void commit(Offset end) {
    journal.committed(((CountOffset) end).count());
  }

  @Override
  public void stop() {
    journal.close();
  }
}
