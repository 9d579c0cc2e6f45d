package weft.kernel.window.bucket;

import java.util.ArrayList;
import java.util.List;
import weft.kernel.operator.BucketStore;
import weft.kernel.operator.Engine;
import weft.kernel.operator.Message;
import weft.kernel.window.time.BatchKnots;

/** A batch of a bucket: what is the same whatever becomes of its records. */
abstract class BucketBatch implements Engine.Batch {
  final BucketStore store;
  final BatchKnots knots;
  final BucketReport report = new BucketReport();
  final List<Message> out = new ArrayList<>();
  private final int number;

  BucketBatch(int number, BucketStore store, BatchKnots knots) {
    this.number = number;
    this.store = store;
    this.knots = knots;
  }

  @Override
  public final void take(Message message) {
    switch (message.kind()) {
      case Message.CONTROL -> knots.read(message.payload());
      case Message.TAKEN -> report.absorbed += message.time();
      case Message.LATE -> takeLate(message);
      case Message.DEAD -> {
        report.dead++;
        out.add(message);
      }
      default -> takeRecords(message);
    }
  }

  /** Takes a row that is late whatever else the batch brings. */
  void takeLate(Message message) {
    report.late++;
    out.add(message);
  }

  /** Takes records that are not known to be late. */
  abstract void takeRecords(Message message);

  /** Adds a message of this bucket to what comes out. */
  final void tell(int kind, byte[] payload) {
    out.add(Message.of(number, kind, payload));
  }

  /** Adds the report, as {@link BucketReport#toJson} has it. */
  final void tellReport(long watermark, Long hold, long windows) {
    tell(Message.REPORT, report.toJson(number, watermark, hold, windows));
  }
}
