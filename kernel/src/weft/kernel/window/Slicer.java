package weft.kernel.window;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import scala.collection.IterableOnce;

/**
 * The first half of a windowed aggregation: combines the records of a partition before they are
 * shuffled.
 *
 * <p>In: control, event time, knot and watermark of a row, what it becomes when it is late and when
 * it is dead as structs, its keys, the arguments of the aggregates, and its id where their order
 * counts. Out: messages to the buckets.
 */
final class Slicer extends RowGenerator {
  private static final long serialVersionUID = 1;

  private static final int LATE = Plan.HEAD;
  private static final int DEAD = Plan.HEAD + 1;
  private static final int KEYS = Plan.HEAD + 2;

  /** Entries held before they are sent on, so that a huge partition needs no huge heap. */
  private static final int MOST_ENTRIES = 1_000_000;

  private final Task task;

  private transient boolean isOpen;
  private transient UnsafeProjection valuesOf;
  private transient UnsafeProjection keyOf;
  private transient int lateColumns;
  private transient int deadColumns;
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

  Slicer(List<Expression> inputs, Task task) {
    super(inputs, Message.IN, task.identity());
    this.task = task;
  }

  @Override
  RowGenerator withChildren(List<Expression> replaced) {
    return new Slicer(replaced, task);
  }

  /** The place of the first argument, after so many keys. */
  static int arguments(int keys) {
    return KEYS + keys;
  }

  private void open() {
    valuesOf = isInPlace() ? null : projection(0, inputs().size());
    keyOf = Plan.places(task.keyType(), KEYS);
    lateColumns = ((StructType) inputs().get(LATE).dataType()).size();
    deadColumns = ((StructType) inputs().get(DEAD).dataType()).size();
    lateRow = new LateRow(task.lateType());
    mail = new Mail(task.buckets());
    layoutId = task.layout().id();
    moment = new Moment();
    tables = new HashMap<>();
    taken = new long[task.buckets()];
    isOpen = true;
  }

  /** Whether the input's columns are those wanted, in order, so that nothing has to be copied. */
  private boolean isInPlace() {
    for (int at = 0; at < inputs().size(); at++) {
      if (!(inputs().get(at) instanceof BoundReference reference) || reference.ordinal() != at) {
        return false;
      }
    }
    return true;
  }

  @Override
  public IterableOnce<InternalRow> eval(InternalRow row) {
    if (!isOpen) {
      open();
    }
    InternalRow values = valuesOf == null && row instanceof UnsafeRow ? row : projected(row);
    if (!values.isNullAt(Plan.CONTROL_AT)) {
      return Mail.one(mail.control(values.getUTF8String(Plan.CONTROL_AT)));
    }
    UnsafeRow key = keyOf.apply(values);
    int hash = Table.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes());
    if (!values.isNullAt(DEAD)) {
      return Mail.one(dead(values, hash));
    }
    if (values.isNullAt(Plan.EVENT_TIME_AT)) {
      return Mail.one(late(values, hash, null, 0));
    }
    long eventTime = values.getLong(Plan.EVENT_TIME_AT);
    long eventMs = Math.floorDiv(eventTime, 1000L);
    long watermark = Knots.NONE;
    if (!values.isNullAt(Plan.WATERMARK_AT)) {
      watermark = Math.floorDiv(values.getLong(Plan.WATERMARK_AT), 1000L);
    }
    long knot = values.getLong(Plan.KNOT_AT);
    if (task.layout().isOrdered) {
      moment.eventTime = eventTime;
      moment.knot = knot;
      moment.id = values.getUTF8String(inputs().size() - 1);
    }
    Shape shape = task.shape();
    if (shape.isSliced()) {
      long slice = shape.slice(eventMs);
      long lastEnd = shape.lastEnd(slice);
      if (shape.isExpired(lastEnd, watermark)) {
        return Mail.one(
            task.inputs() > 1
                ? doubt(values, key, hash, eventMs, watermark, lastEnd)
                : late(values, hash, lastEnd, watermark - eventMs));
      }
      add(
          shape.firstEnd(slice) > watermark ? Message.ANY_KNOT : knot,
          slice,
          key,
          hash,
          values,
          eventMs,
          watermark);
    } else if (shape.isGlobal()) {
      add(knot, 0, key, hash, values, eventMs, watermark);
    } else if (shape.isSession()) {
      if (shape.isExpired(Millis.plus(eventMs, shape.gap), watermark)) {
        return Mail.one(
            doubt(values, key, hash, eventMs, watermark, Millis.plus(eventMs, shape.gap)));
      }
      // Records of one stretch as long as the gap are in one session, wherever in it they are.
      add(knot, Math.floorDiv(eventMs, shape.gap), key, hash, values, eventMs, watermark);
    } else {
      boolean isLate = true;
      long slice = shape.slice(eventMs);
      if (task.inputs() > 1 && shape.isExpired(shape.firstEnd(slice), watermark)) {
        return Mail.one(doubt(values, key, hash, eventMs, watermark, shape.lastEnd(slice)));
      }
      long last = shape.lastStart(slice);
      for (long start = shape.firstStart(slice);
          start <= last;
          start = Millis.plus(start, shape.slide)) {
        if (!shape.isExpired(Millis.plus(start, shape.size), watermark)) {
          isLate = false;
          add(knot, start, key, hash, values, eventMs, watermark);
        }
      }
      if (isLate) {
        return Mail.one(late(values, hash, shape.lastEnd(slice), watermark - eventMs));
      }
    }
    taken[Buckets.of(hash, task.buckets())]++;
    return entries < MOST_ENTRIES ? Mail.none() : flush();
  }

  private UnsafeRow projected(InternalRow row) {
    valuesOf = valuesOf == null ? projection(0, inputs().size()) : valuesOf;
    return valuesOf.apply(row);
  }

  @Override
  public IterableOnce<InternalRow> terminate() {
    return isOpen ? flush() : Mail.none();
  }

  private void add(
      long knot,
      long time,
      UnsafeRow key,
      int hash,
      InternalRow values,
      long eventMs,
      long watermark) {
    if (lastTable == null || lastKnot != knot || lastTime != time) {
      lastTable =
          tables
              .computeIfAbsent(knot, each -> new HashMap<>())
              .computeIfAbsent(time, each -> new Table(task.layout()));
      lastKnot = knot;
      lastTime = time;
    }
    int before = lastTable.size();
    int entry =
        lastTable.insert(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(), hash);
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

  private InternalRow dead(InternalRow values, int hash) {
    UnsafeRow letter = (UnsafeRow) values.getStruct(DEAD, deadColumns);
    Blob out = new Blob();
    out.putLong(letter.getSizeInBytes());
    out.putRaw(letter.getBaseObject(), letter.getBaseOffset(), letter.getSizeInBytes());
    return mail.message(Buckets.of(hash, task.buckets()), Message.DEAD, 0, 0, out.toArray());
  }

  private InternalRow late(InternalRow values, int hash, Long end, long lateness) {
    Long start = end == null ? null : end - task.shape().size;
    Blob out = new Blob();
    lateRow.write(lateColumns(values), start, end, end == null ? null : (Long) lateness, out);
    return mail.message(Buckets.of(hash, task.buckets()), Message.LATE, 0, 0, out.toArray());
  }

  /**
   * A record of which only the bucket knows whether it is late, and if so for the window that has
   * this end.
   */
  private InternalRow doubt(
      InternalRow values, UnsafeRow key, int hash, long eventMs, long watermark, long end) {
    Table alone = new Table(task.layout());
    int entry = alone.insert(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(), hash);
    task.layout().add(alone, entry, values, moment, eventMs, watermark);
    Blob out = new Blob();
    out.putArray(Segment.of(alone, task.layout(), layoutId));
    long start = task.shape().isSession() ? eventMs : end - task.shape().size;
    lateRow.write(lateColumns(values), start, end, watermark - eventMs, out);
    int bucket = Buckets.of(hash, task.buckets());
    return mail.message(
        bucket, Message.DOUBT, values.getLong(Plan.KNOT_AT), eventMs, out.toArray());
  }

  private InternalRow lateColumns(InternalRow values) {
    if (values.isNullAt(LATE)) {
      throw new IllegalStateException("A late row has lost its columns.");
    }
    return values.getStruct(LATE, lateColumns);
  }
}
