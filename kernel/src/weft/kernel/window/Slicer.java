package weft.kernel.window;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import scala.collection.IterableOnce;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The first half of a windowed aggregation: combines the records of a partition before they are shuffled.
 *
 * <p>In: control, event time, knot and watermark of a row, its keys, the arguments of the aggregates with the row's id
 * where their order matters, and the columns that a late row keeps, its position last. Out: messages to the buckets.
 */
final class Slicer extends RowGenerator {
  private static final long serialVersionUID = 1;

  static final int CONTROL = 0;
  static final int EVENT_TIME = 1;
  static final int KNOT = 2;
  static final int WATERMARK = 3;
  static final int ID = 4;
  static final int HEAD = 5;

  /** Entries held before they are sent on, so that a huge partition needs no huge heap. */
  private static final int MOST_ENTRIES = 1_000_000;

  private final Task task;
  private final int keys;
  private final int arguments;

  private transient UnsafeProjection valuesOf;
  private transient UnsafeProjection keyOf;
  private transient LateRow lateRow;
  private transient Mail mail;
  private transient int layoutId;
  private transient Moment moment;
  private transient Map<Long, Map<Long, Table>> tables;
  private transient int entries;
  private transient long[] taken;
  private transient long lastKnot;
  private transient long lastTime;
  private transient Table lastTable;

  Slicer(List<Expression> inputs, Task task, int keys, int arguments) {
    super(inputs, Message.IN, task.identity());
    this.task = task;
    this.keys = keys;
    this.arguments = arguments;
  }

  @Override
  RowGenerator withChildren(List<Expression> replaced) {
    return new Slicer(replaced, task, keys, arguments);
  }

  private void open() {
    int afterKeys = HEAD + keys;
    List<Expression> values = new ArrayList<>(inputs().subList(0, HEAD));
    values.addAll(inputs().subList(afterKeys, afterKeys + arguments));
    valuesOf = UnsafeProjection.create(CollectionConverters.asScala(values).toList());
    keyOf = projection(HEAD, afterKeys);
    lateRow = new LateRow(projection(afterKeys + arguments, inputs().size()), task.lateType());
    mail = new Mail(task.buckets());
    layoutId = task.layout().id();
    moment = new Moment();
    tables = new HashMap<>();
    taken = new long[task.buckets()];
  }

  @Override
  public IterableOnce<InternalRow> eval(InternalRow row) {
    if (valuesOf == null) {
      open();
    }
    UnsafeRow values = valuesOf.apply(row);
    if (!values.isNullAt(CONTROL)) {
      return Mail.one(mail.control(values.getUTF8String(CONTROL)));
    }
    UnsafeRow key = keyOf.apply(row);
    int hash = Table.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes());
    if (values.isNullAt(EVENT_TIME)) {
      return Mail.one(late(row, hash, null, 0));
    }
    long eventMs = Math.floorDiv(values.getLong(EVENT_TIME), 1000L);
    long watermark = values.isNullAt(WATERMARK) ? Long.MIN_VALUE : Math.floorDiv(values.getLong(WATERMARK), 1000L);
    long knot = values.getLong(KNOT);
    moment.eventTime = values.getLong(EVENT_TIME);
    moment.knot = knot;
    moment.id = values.getUTF8String(ID);
    Shape shape = task.shape();
    if (shape.isSliced()) {
      long slice = shape.slice(eventMs);
      long lastEnd = shape.lastEnd(slice);
      if (shape.isExpired(lastEnd, watermark)) {
        return Mail.one(late(row, hash, lastEnd, watermark - eventMs));
      }
      add(shape.firstEnd(slice) > watermark ? Message.ANY_KNOT : knot, slice, key, hash, values, eventMs, watermark);
    } else if (shape.isGlobal()) {
      add(knot, 0, key, hash, values, eventMs, watermark);
    } else if (shape.isSession()) {
      if (shape.isExpired(eventMs + shape.gap, watermark)) {
        return Mail.one(doubt(row, values, key, hash, eventMs, watermark));
      }
      // Records of one stretch as long as the gap are in one session, wherever in it they are.
      add(knot, Math.floorDiv(eventMs, shape.gap), key, hash, values, eventMs, watermark);
    } else {
      boolean isLate = true;
      long slice = shape.slice(eventMs);
      for (long start = shape.firstStart(slice); start <= shape.lastStart(slice); start += shape.slide) {
        if (!shape.isExpired(start + shape.size, watermark)) {
          isLate = false;
          add(knot, start, key, hash, values, eventMs, watermark);
        }
      }
      if (isLate) {
        return Mail.one(late(row, hash, shape.lastEnd(slice), watermark - eventMs));
      }
    }
    taken[Buckets.of(hash, task.buckets())]++;
    return entries < MOST_ENTRIES ? Mail.none() : flush();
  }

  @Override
  public IterableOnce<InternalRow> terminate() {
    return valuesOf == null ? Mail.none() : flush();
  }

  private void add(
      long knot, long time, UnsafeRow key, int hash, UnsafeRow values, long eventMs, long watermark) {
    if (lastTable == null || lastKnot != knot || lastTime != time) {
      lastTable =
          tables.computeIfAbsent(knot, each -> new HashMap<>()).computeIfAbsent(time, each -> new Table(task.layout()));
      lastKnot = knot;
      lastTime = time;
    }
    int before = lastTable.size();
    int entry = lastTable.insert(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(), hash);
    entries += lastTable.size() - before;
    task.layout().add(lastTable, entry, values, moment, eventMs, watermark);
  }

  private IterableOnce<InternalRow> flush() {
    List<InternalRow> out = new ArrayList<>();
    tables.forEach((knot, times) -> times.forEach((time, table) -> send(knot, time, table, out)));
    for (int bucket = 0; bucket < taken.length; bucket++) {
      if (taken[bucket] > 0) {
        out.add(mail.message(bucket, Message.TAKEN, 0, taken[bucket], new byte[0]));
        taken[bucket] = 0;
      }
    }
    tables.clear();
    entries = 0;
    lastTable = null;
    return Mail.all(out);
  }

  private void send(long knot, long time, Table table, List<InternalRow> out) {
    Segment[] segments = new Segment[task.buckets()];
    for (int entry = 0; entry < table.size(); entry++) {
      int bucket = Buckets.of(table.hash(entry), task.buckets());
      if (segments[bucket] == null) {
        segments[bucket] = new Segment(layoutId);
      }
      segments[bucket].add(table, entry, task.layout());
    }
    for (int bucket = 0; bucket < segments.length; bucket++) {
      if (segments[bucket] != null) {
        out.add(mail.message(bucket, Message.SEGMENT, knot, time, segments[bucket].toArray()));
      }
    }
  }

  private InternalRow late(InternalRow row, int hash, Long end, long lateness) {
    Long start = end == null ? null : end - task.shape().size;
    Blob out = new Blob();
    lateRow.write(row, start, end, end == null ? null : (Long) lateness, out);
    return mail.message(Buckets.of(hash, task.buckets()), Message.LATE, 0, 0, out.toArray());
  }

  /** A record that is late unless a session that is still kept takes it, which only the bucket knows. */
  private InternalRow doubt(
      InternalRow row, UnsafeRow values, UnsafeRow key, int hash, long eventMs, long watermark) {
    Table alone = new Table(task.layout());
    int entry = alone.insert(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(), hash);
    task.layout().add(alone, entry, values, moment, eventMs, watermark);
    Blob out = new Blob();
    out.putArray(Segment.of(alone, task.layout(), layoutId));
    lateRow.write(row, eventMs, eventMs + task.shape().gap, watermark - eventMs, out);
    return mail.message(Buckets.of(hash, task.buckets()), Message.DOUBT, values.getLong(KNOT), eventMs, out.toArray());
  }
}
