package weft.kernel.window.bucket;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.operator.BucketStore;
import weft.kernel.operator.Engine;
import weft.kernel.operator.Message;
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
  public Batch begin(int bucket, BucketStore store) {
    panes = panes == null ? new PaneRow(task) : panes;
    KeyState state = new KeyState(task.inputs(), store.get(StateKey.head()));
    return new KeyBatch(bucket, store, state);
  }

  private final class KeyBatch extends BucketBatch {
    private final KeyState state;
    private final KeyBucket bucket;
    private final List<byte[]> late = new ArrayList<>();
    private final TreeMap<Long, LinkedHashMap<UTF8String, List<Arrival>>> arrivals =
        new TreeMap<>();
    private final Map<Long, List<Doubt>> doubted = new HashMap<>();
    private long doubts;

    KeyBatch(int number, BucketStore store, KeyState state) {
      super(number, store, new BatchKnots(state.watermarks));
      this.state = state;
      this.bucket = new KeyBucket(task, state, store, panes, late);
    }

    @Override
    void takeLate(Message message) {
      late.add(message.payload());
    }

    @Override
    void takeRecords(Message message) {
      Map<UTF8String, List<Arrival>> brought = open(message.knot());
      if (message.kind() == Message.DOUBT) {
        doubts++;
        doubted
            .computeIfAbsent(message.knot(), each -> new ArrayList<>())
            .add(Doubt.read(message.time(), message.payload()));
      } else {
        read(message.payload(), message.time(), null, brought);
      }
    }

    private Map<UTF8String, List<Arrival>> open(long knot) {
      knots.add(knot);
      return arrivals.computeIfAbsent(knot, each -> new LinkedHashMap<>());
    }

    @Override
    public Iterator<Message> end() {
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
      late.forEach(each -> tell(Message.LATE, each));
      panes.messages().forEach(each -> tell(Message.RESULTS, each));
      tellReport(state.watermark, bucket.hold(), state.windows);
      return out.iterator();
    }
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
