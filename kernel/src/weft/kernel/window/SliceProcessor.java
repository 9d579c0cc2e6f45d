package weft.kernel.window;

import java.util.ArrayList;
import java.util.HashMap;
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
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** Keeps the slices of a bucket in Spark's state store, and runs its batches. */
final class SliceProcessor extends StatefulProcessor<Integer, Row, Row> {
  private static final long serialVersionUID = 1;

  static final String HEAD = "head";
  static final String SEGMENTS = "segments";
  static final String REVISIONS = "revisions";

  private static final StructType PART =
      new StructType().add("slice", DataTypes.LongType, false).add("part", DataTypes.IntegerType, false);

  private final Task task;
  private transient ValueState<byte[]> head;
  private transient MapState<Row, byte[]> segments;
  private transient MapState<Long, byte[]> revisions;
  private transient PaneRow panes;
  private transient Map<Integer, Integer> buckets;

  SliceProcessor(Task task) {
    this.task = task;
  }

  @Override
  public void init(OutputMode mode, TimeMode time) {
    head = getHandle().getValueState(HEAD, Encoders.BINARY(), TTLConfig.NONE());
    segments = getHandle().getMapState(SEGMENTS, Encoders.row(PART), Encoders.BINARY(), TTLConfig.NONE());
    revisions = getHandle().getMapState(REVISIONS, Encoders.LONG(), Encoders.BINARY(), TTLConfig.NONE());
    panes = new PaneRow(task);
    buckets = Buckets.byGroup(task.buckets());
  }

  @Override
  public Iterator<Row> handleInputRows(Integer group, Iterator<Row> rows, TimerValues timers) {
    Report report = new Report();
    List<Row> out = new ArrayList<>();
    SliceState state = new SliceState(task.layout(), head.get());
    SliceBucket bucket = new SliceBucket(task, state, new Store(), panes);
    TreeMap<Long, Long> knots = new TreeMap<>();
    TreeMap<Long, Map<Long, List<byte[]>>> late = new TreeMap<>();
    while (rows.hasNext()) {
      Row row = rows.next();
      byte[] payload = row.getAs(4);
      long knot = row.getLong(2);
      switch (row.getInt(1)) {
        case Message.CONTROL -> Knots.read(payload, knots);
        case Message.TAKEN -> report.absorbed += row.getLong(3);
        case Message.LATE -> {
          report.late++;
          out.add(RowFactory.create(Message.LATE, payload));
        }
        default -> {
          if (knot == Message.ANY_KNOT) {
            bucket.take(row.getLong(3), payload);
          } else {
            late.computeIfAbsent(knot, each -> new HashMap<>())
                .computeIfAbsent(row.getLong(3), each -> new ArrayList<>())
                .add(payload);
          }
        }
      }
    }
    late.keySet().forEach(knot -> knots.putIfAbsent(knot, Knots.NONE));
    knots.forEach((knot, watermark) -> bucket.run(late.getOrDefault(knot, Map.of()), watermark));
    bucket.keep();
    head.update(state.toArray());
    report.panes = panes.panes();
    panes.messages().forEach(message -> out.add(RowFactory.create(Message.PANES, message)));
    byte[] told = report.toJson(buckets.get(group), state.watermark, bucket.hold(), bucket.windows());
    out.add(RowFactory.create(Message.REPORT, told));
    return CollectionConverters.asScala(out.iterator());
  }

  /** The state store of the group that is being handled. */
  private final class Store implements SliceStore {
    @Override
    public byte[] segment(long slice, int part) {
      return segments.getValue(RowFactory.create(slice, part));
    }

    @Override
    public void keepSegment(long slice, int part, byte[] segment) {
      segments.updateValue(RowFactory.create(slice, part), segment);
    }

    @Override
    public void dropSegment(long slice, int part) {
      segments.removeKey(RowFactory.create(slice, part));
    }

    @Override
    public byte[] revisions(long end) {
      return revisions.getValue(end);
    }

    @Override
    public void keepRevisions(long end, byte[] written) {
      revisions.updateValue(end, written);
    }

    @Override
    public void dropRevisions(long end) {
      revisions.removeKey(end);
    }
  }
}
