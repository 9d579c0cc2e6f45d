package weft.kernel.window;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * Runs windows whose keys fire together: sorts the messages of a batch and hands them to its
 * bucket.
 */
final class SliceEngine implements Engine {
  private static final long serialVersionUID = 1;

  private final Task task;
  private transient PaneRow panes;

  SliceEngine(Task task) {
    this.task = task;
  }

  @Override
  public List<Row> run(int group, Iterator<Row> messages, Store store) {
    panes = panes == null ? new PaneRow(task) : panes;
    Report report = new Report();
    List<Row> out = new ArrayList<>();
    SliceState state = new SliceState(task.inputs(), store.get(Place.head()));
    SliceBucket bucket = new SliceBucket(task, state, store, panes);
    Knots knots = new Knots(state.watermarks);
    TreeMap<Long, Map<Long, List<byte[]>>> late = new TreeMap<>();
    Map<Long, List<Doubt>> doubts = new HashMap<>();
    while (messages.hasNext()) {
      Row message = messages.next();
      byte[] payload = message.getAs(Message.PAYLOAD);
      long time = message.getLong(Message.TIME);
      switch (message.getInt(Message.KIND)) {
        case Message.CONTROL -> knots.read(payload);
        case Message.TAKEN -> report.absorbed += time;
        case Message.LATE -> {
          report.late++;
          out.add(RowFactory.create(Message.LATE, payload));
        }
        case Message.DEAD -> {
          report.dead++;
          out.add(RowFactory.create(Message.DEAD, payload));
        }
        case Message.DOUBT -> {
          long knot = message.getLong(Message.KNOT);
          knots.add(knot);
          doubts.computeIfAbsent(knot, each -> new ArrayList<>()).add(Doubt.read(time, payload));
        }
        default -> {
          long knot = message.getLong(Message.KNOT);
          if (knot == Message.ANY_KNOT) {
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
            long slice = task.shape().slice(doubt.eventMs());
            if (task.shape().isExpired(task.shape().lastEnd(slice), state.watermark)) {
              report.late++;
              long lateness = state.watermark - doubt.eventMs();
              byte[] row = LateRow.behind(doubt.lateRow(), task.lateType(), lateness);
              out.add(RowFactory.create(Message.LATE, row));
            } else {
              report.absorbed++;
              file(late, knot, slice, doubt.segment());
            }
          }
          bucket.run(late.getOrDefault(knot, Map.of()), knots.watermark());
        });
    bucket.keep();
    task.describe(store);
    store.put(Place.head(), state.toArray());
    report.panes = panes.panes();
    panes.messages().forEach(message -> out.add(RowFactory.create(Message.PANES, message)));
    int number = Buckets.ofGroup(group, task.buckets());
    byte[] told = report.toJson(number, state.watermark, bucket.hold(), bucket.windows());
    out.add(RowFactory.create(Message.REPORT, told));
    return out;
  }

  private static void file(
      Map<Long, Map<Long, List<byte[]>>> late, long knot, long slice, byte[] segment) {
    late.computeIfAbsent(knot, each -> new HashMap<>())
        .computeIfAbsent(slice, each -> new ArrayList<>())
        .add(segment);
  }
}
