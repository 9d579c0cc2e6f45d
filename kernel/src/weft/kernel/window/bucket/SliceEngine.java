package weft.kernel.window.bucket;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import weft.kernel.window.state.BucketStore;
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
  public Iterator<Row> run(int group, Iterator<Row> messages, BucketStore store) {
    panes = panes == null ? new PaneRow(task) : panes;
    BucketReport report = new BucketReport();
    List<Row> out = new ArrayList<>();
    SliceState state = new SliceState(task.inputs(), store.get(StateKey.head()));
    SliceBucket bucket = new SliceBucket(task, state, store, panes);
    BatchKnots knots = new BatchKnots(state.watermarks);
    TreeMap<Long, Map<Long, List<byte[]>>> late = new TreeMap<>();
    Map<Long, List<Doubt>> doubts = new HashMap<>();
    while (messages.hasNext()) {
      Row message = messages.next();
      byte[] payload = message.getAs(BucketMessage.PAYLOAD);
      long time = message.getLong(BucketMessage.TIME);
      switch (message.getInt(BucketMessage.KIND)) {
        case BucketMessage.CONTROL -> knots.read(payload);
        case BucketMessage.TAKEN -> report.absorbed += time;
        case BucketMessage.LATE -> {
          report.late++;
          out.add(RowFactory.create(BucketMessage.LATE, payload));
        }
        case BucketMessage.DEAD -> {
          report.dead++;
          out.add(RowFactory.create(BucketMessage.DEAD, payload));
        }
        case BucketMessage.DOUBT -> {
          long knot = message.getLong(BucketMessage.KNOT);
          knots.add(knot);
          doubts.computeIfAbsent(knot, each -> new ArrayList<>()).add(Doubt.read(time, payload));
        }
        default -> {
          long knot = message.getLong(BucketMessage.KNOT);
          if (knot == BucketMessage.ANY_KNOT) {
            bucket.take(time, payload);
          } else {
            knots.add(knot);
            file(late, knot, time, payload);
          }
        }
      }
    }
    knots.forEach(
        knot -> {
          for (Doubt doubt : doubts.getOrDefault(knot, List.of())) {
            long slice = task.spec().slice(doubt.eventMs());
            if (task.spec().isExpired(task.spec().lastEnd(slice), state.watermark)) {
              report.late++;
              long lateness = state.watermark - doubt.eventMs();
              byte[] row = LateRow.behind(doubt.lateRow(), task.lateType(), lateness);
              out.add(RowFactory.create(BucketMessage.LATE, row));
            } else {
              report.absorbed++;
              file(late, knot, slice, doubt.segment());
            }
          }
          bucket.run(late.getOrDefault(knot, Map.of()), knots.watermark());
        });
    bucket.keep();
    task.describe(store);
    store.put(StateKey.head(), state.toArray());
    report.panes = panes.panes();
    panes.messages().forEach(message -> out.add(RowFactory.create(BucketMessage.PANES, message)));
    int number = Buckets.ofGroup(group, task.buckets());
    byte[] told = report.toJson(number, state.watermark, bucket.hold(), bucket.windows());
    out.add(RowFactory.create(BucketMessage.REPORT, told));
    return out.iterator();
  }

  private static void file(
      Map<Long, Map<Long, List<byte[]>>> late, long knot, long slice, byte[] segment) {
    late.computeIfAbsent(knot, each -> new HashMap<>())
        .computeIfAbsent(slice, each -> new ArrayList<>())
        .add(segment);
  }
}
