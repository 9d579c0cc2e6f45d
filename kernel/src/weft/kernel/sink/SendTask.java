package weft.kernel.sink;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.kafka.common.KafkaException;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.sql.catalyst.InternalRow;
import weft.kernel.spark.FileRows;

/**
 * Sends one slot's share. Safe to run twice, also at once: whoever opens a sender last shuts the
 * others out, and sends only if the position is still the one before.
 */
final class SendTask implements Function<SlotShare, Sent> {
  private static final long serialVersionUID = 1L;

  private final Outgoing outgoing;
  private final ArrayList<FileRows> readers;

  SendTask(Outgoing outgoing, List<FileRows> readers) {
    this.outgoing = outgoing;
    this.readers = new ArrayList<>(readers);
  }

  @Override
  public Sent call(SlotShare share) {
    List<Sender.RowPart> parts = new ArrayList<>();
    for (SlotShare.StoredFile file : share.files()) {
      parts.add(new FilePart(readers.get(file.form()), file));
    }
    return send(share, outgoing, parts);
  }

  /** Sends rows as a slot's share. */
  static Sent send(SlotShare share, Outgoing outgoing, Iterable<Sender.RowPart> parts) {
    Sender sender = null;
    boolean isKept = false;
    try {
      sender = opened(share);
      if (sender.position().equals(share.after())) {
        isKept = true;
        return Sent.of(Sent.Outcome.DONE);
      }
      if (!sender.position().equals(share.before())) {
        return Sent.of(Sent.Outcome.FENCED);
      }
      boolean isDone = sender.send(share.after(), outgoing, parts);
      isKept = true;
      return Sent.of(isDone ? Sent.Outcome.DONE : Sent.Outcome.WAITING);
    } catch (KafkaException e) {
      return UnsentException.isFenced(e)
          ? Sent.of(Sent.Outcome.AGAIN)
          : new Sent(Sent.Outcome.REFUSED, UnsentException.reason(e));
    } finally {
      if (isKept) {
        Senders.keep(sender);
      } else if (sender != null) {
        sender.close();
      }
    }
  }

  /** The sender that is kept of the slot if it knows the position, else a new one. */
  private static Sender opened(SlotShare share) {
    Sender kept = Senders.take(share.address());
    if (kept != null) {
      if (kept.position().equals(share.before()) || kept.position().equals(share.after())) {
        return kept;
      }
      kept.close();
    }
    return Sender.open(share.address());
  }

  private final class FilePart implements Sender.RowPart {
    private final FileRows reader;
    private final SlotShare.StoredFile file;

    FilePart(FileRows reader, SlotShare.StoredFile file) {
      this.reader = reader;
      this.file = file;
    }

    @Override
    public RecordForm form() {
      return new RecordForm(reader.type(), outgoing.wanted());
    }

    @Override
    public Iterator<InternalRow> rows() {
      return reader.open(file.path(), file.bytes());
    }
  }
}
