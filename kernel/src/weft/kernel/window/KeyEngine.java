package weft.kernel.window;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Runs windows that are each key's own: sorts the messages of a batch by knot and key and hands
 * them to its bucket.
 */
final class KeyEngine implements Engine {
  private static final long serialVersionUID = 1;

  private final Task task;
  private transient PaneRow panes;

  KeyEngine(Task task) {
    this.task = task;
  }

  @Override
  public List<Row> run(int group, Iterator<Row> messages, Store store) {
    panes = panes == null ? new PaneRow(task) : panes;
    Report report = new Report();
    List<Row> out = new ArrayList<>();
    List<byte[]> late = new ArrayList<>();
    KeyState state = new KeyState(task.inputs(), store.get(Place.head()));
    KeyBucket bucket = new KeyBucket(task, state, store, panes, late);
    Knots knots = new Knots(state.watermarks);
    TreeMap<Long, LinkedHashMap<UTF8String, List<Arrival>>> arrivals = new TreeMap<>();
    Map<Long, List<Doubt>> doubted = new HashMap<>();
    long doubts = 0;
    while (messages.hasNext()) {
      Row message = messages.next();
      byte[] payload = message.getAs(Message.PAYLOAD);
      long time = message.getLong(Message.TIME);
      switch (message.getInt(Message.KIND)) {
        case Message.CONTROL -> knots.read(payload);
        case Message.TAKEN -> report.absorbed += time;
        case Message.LATE -> late.add(payload);
        case Message.DEAD -> {
          report.dead++;
          out.add(RowFactory.create(Message.DEAD, payload));
        }
        case Message.DOUBT -> {
          long knot = message.getLong(Message.KNOT);
          doubts++;
          open(arrivals, knots, knot);
          doubted.computeIfAbsent(knot, each -> new ArrayList<>()).add(Doubt.read(time, payload));
        }
        default -> read(payload, time, null, open(arrivals, knots, message.getLong(Message.KNOT)));
      }
    }
    int judged = late.size();
    knots.forEach(
        knot -> {
          LinkedHashMap<UTF8String, List<Arrival>> brought =
              arrivals.computeIfAbsent(knot, each -> new LinkedHashMap<>());
          for (Doubt doubt : doubted.getOrDefault(knot, List.of())) {
            judge(doubt, state.watermark, brought, late);
          }
          bucket.run(brought, knots.watermark());
        });
    bucket.keep();
    task.describe(store);
    store.put(Place.head(), state.toArray());
    report.late = late.size();
    report.absorbed += doubts - (late.size() - judged);
    report.panes = panes.panes();
    late.forEach(each -> out.add(RowFactory.create(Message.LATE, each)));
    panes.messages().forEach(message -> out.add(RowFactory.create(Message.PANES, message)));
    byte[] told =
        report.toJson(
            Buckets.ofGroup(group, task.buckets()), state.watermark, bucket.hold(), state.windows);
    out.add(RowFactory.create(Message.REPORT, told));
    return out;
  }

  /**
   * Takes a record into every window of its own that is still kept at a watermark; one that has
   * none is late.
   */
  private void judge(
      Doubt doubt, long watermark, Map<UTF8String, List<Arrival>> arrivals, List<byte[]> late) {
    Shape shape = task.shape();
    if (shape.isSession()) {
      // Whether a session that is kept takes it is known once sessions are merged.
      read(doubt.segment(), doubt.eventMs(), doubt.lateRow(), arrivals);
      return;
    }
    boolean isLate = true;
    long slice = shape.slice(doubt.eventMs());
    long last = shape.lastStart(slice);
    for (long start = shape.firstStart(slice);
        start <= last;
        start = Millis.plus(start, shape.slide)) {
      if (!shape.isExpired(Millis.plus(start, shape.size), watermark)) {
        isLate = false;
        read(doubt.segment(), start, null, arrivals);
      }
    }
    if (isLate) {
      late.add(LateRow.behind(doubt.lateRow(), task.lateType(), watermark - doubt.eventMs()));
    }
  }

  private static Map<UTF8String, List<Arrival>> open(
      TreeMap<Long, LinkedHashMap<UTF8String, List<Arrival>>> arrivals, Knots knots, long knot) {
    knots.add(knot);
    return arrivals.computeIfAbsent(knot, each -> new LinkedHashMap<>());
  }

  private void read(
      byte[] segment, long time, byte[] lateRow, Map<UTF8String, List<Arrival>> arrivals) {
    Layout layout = task.layout();
    Shape shape = task.shape();
    Table table = new Table(layout);
    Segment.readInto(segment, table, new Reader(layout, layout));
    for (int entry = 0; entry < table.size(); entry++) {
      long[] longs =
          Arrays.copyOfRange(table.longs(), entry * layout.longs, (entry + 1) * layout.longs);
      Object[] objects =
          Arrays.copyOfRange(table.objects(), entry * layout.objects, (entry + 1) * layout.objects);
      long start = time;
      long end = Millis.plus(time, shape.size);
      if (shape.isSession()) {
        start = layout.first(longs, 0);
        end = Millis.plus(layout.last(longs, 0), shape.gap);
      } else if (shape.isGlobal()) {
        start = Long.MIN_VALUE;
        end = Long.MAX_VALUE;
      }
      arrivals
          .computeIfAbsent(UTF8String.fromBytes(table.key(entry)), each -> new ArrayList<>())
          .add(new Arrival(start, end, longs, objects, lateRow));
    }
  }
}
