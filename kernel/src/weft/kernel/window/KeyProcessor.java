package weft.kernel.window;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** Keeps the windows of a bucket's keys in Spark's state store, and runs its batches. */
final class KeyProcessor extends StatefulProcessor<Integer, Row, Row> {
  private static final long serialVersionUID = 1;

  static final String HEAD = "head";
  static final String KEYS = "keys";
  static final String AGENDA = "agenda";

  private static final StructType PART =
      new StructType().add("time", DataTypes.LongType, false).add("part", DataTypes.IntegerType, false);

  private final Task task;
  private transient ValueState<byte[]> head;
  private transient MapState<byte[], byte[]> windows;
  private transient MapState<Row, byte[]> agenda;
  private transient PaneRow panes;
  private transient Map<Integer, Integer> buckets;

  KeyProcessor(Task task) {
    this.task = task;
  }

  @Override
  public void init(OutputMode mode, TimeMode time) {
    head = getHandle().getValueState(HEAD, Encoders.BINARY(), TTLConfig.NONE());
    windows = getHandle().getMapState(KEYS, Encoders.BINARY(), Encoders.BINARY(), TTLConfig.NONE());
    agenda = getHandle().getMapState(AGENDA, Encoders.row(PART), Encoders.BINARY(), TTLConfig.NONE());
    panes = new PaneRow(task);
    buckets = Buckets.byGroup(task.buckets());
  }

  @Override
  public Iterator<Row> handleInputRows(Integer group, Iterator<Row> rows, TimerValues timers) {
    Report report = new Report();
    List<byte[]> late = new ArrayList<>();
    KeyState state = new KeyState(task.layout(), head.get());
    KeyBucket bucket = new KeyBucket(task, state, new Store(), panes, late);
    TreeMap<Long, Long> knots = new TreeMap<>();
    TreeMap<Long, LinkedHashMap<UTF8String, List<Arrival>>> arrivals = new TreeMap<>();
    long doubts = 0;
    while (rows.hasNext()) {
      Row row = rows.next();
      byte[] payload = row.getAs(4);
      long knot = row.getLong(2);
      switch (row.getInt(1)) {
        case Message.CONTROL -> Knots.read(payload, knots);
        case Message.TAKEN -> report.absorbed += row.getLong(3);
        case Message.LATE -> late.add(payload);
        case Message.DOUBT -> {
          doubts++;
          Blob in = Blob.reading(payload);
          byte[] segment = in.getArray();
          byte[] lateRow = java.util.Arrays.copyOfRange(payload, in.position(), payload.length);
          read(segment, row.getLong(3), lateRow, arrivals.computeIfAbsent(knot, each -> new LinkedHashMap<>()));
        }
        default -> read(payload, row.getLong(3), null, arrivals.computeIfAbsent(knot, each -> new LinkedHashMap<>()));
      }
    }
    int judged = late.size();
    arrivals.keySet().forEach(knot -> knots.putIfAbsent(knot, Knots.NONE));
    knots.forEach((knot, mark) -> bucket.run(arrivals.getOrDefault(knot, new LinkedHashMap<>()), mark));
    bucket.keep();
    head.update(state.toArray());
    report.late = late.size();
    report.absorbed += doubts - (late.size() - judged);
    report.panes = panes.panes();
    List<Row> out = new ArrayList<>();
    late.forEach(each -> out.add(RowFactory.create(Message.LATE, each)));
    panes.messages().forEach(message -> out.add(RowFactory.create(Message.PANES, message)));
    byte[] told = report.toJson(buckets.get(group), state.watermark, bucket.hold(), state.windows);
    out.add(RowFactory.create(Message.REPORT, told));
    return CollectionConverters.asScala(out.iterator());
  }

  private void read(byte[] segment, long time, byte[] lateRow, Map<UTF8String, List<Arrival>> arrivals) {
    Layout layout = task.layout();
    Shape shape = task.shape();
    Table table = new Table(layout);
    Segment.readInto(segment, table, new Reader(layout, layout));
    for (int entry = 0; entry < table.size(); entry++) {
      long[] longs = java.util.Arrays.copyOfRange(table.longs(), entry * layout.longs, (entry + 1) * layout.longs);
      Object[] objects =
          java.util.Arrays.copyOfRange(table.objects(), entry * layout.objects, (entry + 1) * layout.objects);
      long start = time;
      long end = time + shape.size;
      if (shape.isSession()) {
        start = layout.first(longs, 0);
        end = layout.last(longs, 0) + shape.gap;
      } else if (shape.isGlobal()) {
        start = Long.MIN_VALUE;
        end = Long.MAX_VALUE;
      }
      arrivals
          .computeIfAbsent(UTF8String.fromBytes(table.key(entry)), each -> new ArrayList<>())
          .add(new Arrival(start, end, longs, objects, lateRow));
    }
  }

  /** The state store of the group that is being handled. */
  private final class Store implements KeyStore {
    @Override
    public byte[] windows(byte[] key) {
      return windows.getValue(key);
    }

    @Override
    public void keepWindows(byte[] key, byte[] written) {
      windows.updateValue(key, written);
    }

    @Override
    public void dropWindows(byte[] key) {
      windows.removeKey(key);
    }

    @Override
    public byte[] keys(long time, int part) {
      return agenda.getValue(RowFactory.create(time, part));
    }

    @Override
    public void keepKeys(long time, int part, byte[] keys) {
      agenda.updateValue(RowFactory.create(time, part), keys);
    }

    @Override
    public void dropKeys(long time, int part) {
      agenda.removeKey(RowFactory.create(time, part));
    }
  }
}
