package weft.kernel.window.bucket;

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
import weft.kernel.window.state.BucketStore;
import weft.kernel.window.state.KeySegment;
import weft.kernel.window.state.KeyState;
import weft.kernel.window.state.KeyTable;
import weft.kernel.window.state.SlotLayout;
import weft.kernel.window.state.SlotReader;
import weft.kernel.window.state.StateKey;
import weft.kernel.window.time.BatchKnots;
import weft.kernel.window.time.Millis;
import weft.kernel.window.time.WindowSpec;

/**
 * Runs windows that are each key's own: sorts the messages of a batch by knot and key and hands
 * them to its bucket.
 */
public final class KeyEngine implements Engine {
  private static final long serialVersionUID = 1;

  private final WindowTask task;
  private transient PaneRow panes;

  public KeyEngine(WindowTask task) {
    this.task = task;
  }

  @Override
  public Iterator<Row> run(int group, Iterator<Row> messages, BucketStore store) {
    panes = panes == null ? new PaneRow(task) : panes;
    BucketReport report = new BucketReport();
    List<Row> out = new ArrayList<>();
    List<byte[]> late = new ArrayList<>();
    KeyState state = new KeyState(task.inputs(), store.get(StateKey.head()));
    KeyBucket bucket = new KeyBucket(task, state, store, panes, late);
    BatchKnots knots = new BatchKnots(state.watermarks);
    TreeMap<Long, LinkedHashMap<UTF8String, List<Arrival>>> arrivals = new TreeMap<>();
    Map<Long, List<Doubt>> doubted = new HashMap<>();
    long doubts = 0;
    while (messages.hasNext()) {
      Row message = messages.next();
      byte[] payload = message.getAs(BucketMessage.PAYLOAD);
      long time = message.getLong(BucketMessage.TIME);
      switch (message.getInt(BucketMessage.KIND)) {
        case BucketMessage.CONTROL -> knots.read(payload);
        case BucketMessage.TAKEN -> report.absorbed += time;
        case BucketMessage.LATE -> late.add(payload);
        case BucketMessage.DEAD -> {
          report.dead++;
          out.add(RowFactory.create(BucketMessage.DEAD, payload));
        }
        case BucketMessage.DOUBT -> {
          long knot = message.getLong(BucketMessage.KNOT);
          doubts++;
          open(arrivals, knots, knot);
          doubted.computeIfAbsent(knot, each -> new ArrayList<>()).add(Doubt.read(time, payload));
        }
        default ->
            read(payload, time, null, open(arrivals, knots, message.getLong(BucketMessage.KNOT)));
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
    store.put(StateKey.head(), state.toArray());
    report.late = late.size();
    report.absorbed += doubts - (late.size() - judged);
    report.panes = panes.panes();
    late.forEach(each -> out.add(RowFactory.create(BucketMessage.LATE, each)));
    panes.messages().forEach(message -> out.add(RowFactory.create(BucketMessage.PANES, message)));
    byte[] told =
        report.toJson(
            Buckets.ofGroup(group, task.buckets()), state.watermark, bucket.hold(), state.windows);
    out.add(RowFactory.create(BucketMessage.REPORT, told));
    return out.iterator();
  }

  /**
   * Takes a record into every window of its own that is still kept at a watermark; one that has
   * none is late.
   */
  private void judge(
      Doubt doubt, long watermark, Map<UTF8String, List<Arrival>> arrivals, List<byte[]> late) {
    WindowSpec spec = task.spec();
    if (spec.isSession()) {
      // Whether a session that is kept takes it is known once sessions are merged.
      read(doubt.segment(), doubt.eventMs(), doubt.lateRow(), arrivals);
      return;
    }
    boolean isLate = true;
    long slice = spec.slice(doubt.eventMs());
    long last = spec.lastStart(slice);
    for (long start = spec.firstStart(slice);
        start <= last;
        start = Millis.plus(start, spec.slide)) {
      if (!spec.isExpired(Millis.plus(start, spec.size), watermark)) {
        isLate = false;
        read(doubt.segment(), start, null, arrivals);
      }
    }
    if (isLate) {
      late.add(LateRow.behind(doubt.lateRow(), task.lateType(), watermark - doubt.eventMs()));
    }
  }

  private static Map<UTF8String, List<Arrival>> open(
      TreeMap<Long, LinkedHashMap<UTF8String, List<Arrival>>> arrivals,
      BatchKnots knots,
      long knot) {
    knots.add(knot);
    return arrivals.computeIfAbsent(knot, each -> new LinkedHashMap<>());
  }

  private void read(
      byte[] segment, long time, byte[] lateRow, Map<UTF8String, List<Arrival>> arrivals) {
    SlotLayout layout = task.layout();
    WindowSpec spec = task.spec();
    KeyTable table = new KeyTable(layout);
    KeySegment.readInto(segment, table, new SlotReader(layout, layout));
    for (int entry = 0; entry < table.size(); entry++) {
      long[] longs =
          Arrays.copyOfRange(table.longs(), entry * layout.longs, (entry + 1) * layout.longs);
      Object[] objects =
          Arrays.copyOfRange(table.objects(), entry * layout.objects, (entry + 1) * layout.objects);
      long start = time;
      long end = Millis.plus(time, spec.size);
      if (spec.isSession()) {
        start = layout.first(longs, 0);
        end = Millis.plus(layout.last(longs, 0), spec.gap);
      } else if (spec.isGlobal()) {
        start = Long.MIN_VALUE;
        end = Long.MAX_VALUE;
      }
      arrivals
          .computeIfAbsent(UTF8String.fromBytes(table.key(entry)), each -> new ArrayList<>())
          .add(new Arrival(start, end, longs, objects, lateRow));
    }
  }
}
