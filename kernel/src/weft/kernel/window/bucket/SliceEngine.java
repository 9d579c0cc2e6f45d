package weft.kernel.window.bucket;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import weft.kernel.operator.BucketStore;
import weft.kernel.operator.Engine;
import weft.kernel.operator.Message;
import weft.kernel.window.state.SliceState;
import weft.kernel.window.state.StateKey;
import weft.kernel.window.time.BatchKnots;

/**
 * Runs windows whose keys fire together: sorts the messages of a batch and hands them to its
 * bucket.
 */
public final class SliceEngine implements Engine {
  private static final long serialVersionUID = 1;

  private final WindowTask task;
  private transient PaneRow panes;

  public SliceEngine(WindowTask task) {
    this.task = task;
  }

  @Override
  public Batch begin(int bucket, BucketStore store) {
    panes = panes == null ? new PaneRow(task) : panes;
    SliceState state = new SliceState(task.inputs(), store.get(StateKey.head()));
    return new SliceBatch(bucket, store, state);
  }

  private final class SliceBatch extends BucketBatch {
    private final SliceState state;
    private final SliceBucket bucket;
    private final TreeMap<Long, Map<Long, List<byte[]>>> late = new TreeMap<>();
    private final Map<Long, List<Doubt>> doubts = new HashMap<>();

    SliceBatch(int number, BucketStore store, SliceState state) {
      super(number, store, new BatchKnots(state.watermarks));
      this.state = state;
      this.bucket = new SliceBucket(task, state, store, panes);
    }

    @Override
    void takeRecords(Message message) {
      if (message.knot() == Message.ANY_KNOT) {
        bucket.take(message.time(), message.payload());
        return;
      }
      knots.add(message.knot());
      if (message.kind() == Message.DOUBT) {
        doubts
            .computeIfAbsent(message.knot(), each -> new ArrayList<>())
            .add(Doubt.read(message.time(), message.payload()));
      } else {
        file(message.knot(), message.time(), message.payload());
      }
    }

    @Override
    public Iterator<Message> end() {
      knots.forEach(
          knot -> {
            doubts.getOrDefault(knot, List.of()).forEach(doubt -> judge(knot, doubt));
            bucket.run(late.getOrDefault(knot, Map.of()), knots.watermark());
          });
      bucket.keep();
      task.describe(store);
      store.put(StateKey.head(), state.toArray());
      report.panes = panes.panes();
      panes.messages().forEach(each -> tell(Message.RESULTS, each));
      tellReport(state.watermark, bucket.hold(), bucket.windows());
      return out.iterator();
    }

    private void judge(long knot, Doubt doubt) {
      long slice = task.spec().slice(doubt.eventMs());
      if (task.spec().isExpired(task.spec().lastEnd(slice), state.watermark)) {
        report.late++;
        long lateness = state.watermark - doubt.eventMs();
        tell(Message.LATE, LateRow.behind(doubt.lateRow(), task.lateType(), lateness));
      } else {
        report.absorbed++;
        file(knot, slice, doubt.segment());
      }
    }

    private void file(long knot, long slice, byte[] segment) {
      late.computeIfAbsent(knot, each -> new HashMap<>())
          .computeIfAbsent(slice, each -> new ArrayList<>())
          .add(segment);
    }
  }
}
