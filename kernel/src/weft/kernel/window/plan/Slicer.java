package weft.kernel.window.plan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import weft.kernel.bytes.Blob;
import weft.kernel.operator.Buckets;
import weft.kernel.operator.Columns;
import weft.kernel.operator.Message;
import weft.kernel.operator.Router;
import weft.kernel.spark.RowWriter;
import weft.kernel.window.aggregate.Standing;
import weft.kernel.window.bucket.LateRow;
import weft.kernel.window.bucket.WindowTask;
import weft.kernel.window.state.KeySegment;
import weft.kernel.window.state.KeyTable;
import weft.kernel.window.time.Millis;
import weft.kernel.window.time.WindowSpec;

/**
 * The first half of a windowed aggregation: combines the records of a partition before they are
 * shuffled.
 *
 * <p>In: event time, knot and watermark of a row, what it becomes when it is late and when
 * it is dead as structs, its keys, the arguments of the aggregates, and its id where their order
 * counts. Out: messages to the buckets.
 */
final class Slicer extends Router {
  private static final long serialVersionUID = 1;

  private static final int LATE = BucketPlan.HEAD;
  private static final int DEAD = BucketPlan.HEAD + 1;
  private static final int KEYS = BucketPlan.HEAD + 2;

  /** Entries held before they are sent on, so that a huge partition needs no huge heap. */
  private static final int MOST_ENTRIES = 1_000_000;

  private final Columns columns;
  private final WindowTask task;

  private transient RowWriter keyOf;
  private transient int lateColumns;
  private transient int deadColumns;
  private transient LateRow lateRow;
  private transient int layoutId;
  private transient Standing standing;
  private transient Map<Long, Map<Long, KeyTable>> tables;
  private transient int entries;
  private transient long[] taken;
  private transient long lastKnot;
  private transient long lastTime;
  private transient KeyTable lastTable;

  Slicer(Columns columns, WindowTask task) {
    this.columns = columns;
    this.task = task;
  }

  /** The place of the first argument, after so many keys. */
  static int arguments(int keys) {
    return KEYS + keys;
  }

  private void open() {
    StructType keyType = task.keyType();
    keyOf = RowWriter.picking(keyType, IntStream.range(KEYS, KEYS + keyType.size()).toArray());
    lateColumns = ((StructType) columns.type(LATE)).size();
    deadColumns = ((StructType) columns.type(DEAD)).size();
    lateRow = new LateRow(task.lateType());
    layoutId = task.layout().id();
    standing = new Standing();
    tables = new HashMap<>();
    taken = new long[task.buckets()];
  }

  @Override
  protected void begin() {
    if (keyOf == null) {
      open();
    }
    tables.clear();
    Arrays.fill(taken, 0);
    entries = 0;
    lastTable = null;
  }

  @Override
  protected Iterator<Message> take(InternalRow values) {
    UnsafeRow key = keyOf.write(values);
    int hash = KeyTable.hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes());
    if (!values.isNullAt(DEAD)) {
      return one(dead(values, hash));
    }
    if (values.isNullAt(BucketPlan.EVENT_TIME_AT)) {
      return one(late(values, hash, null, 0));
    }
    long eventTime = values.getLong(BucketPlan.EVENT_TIME_AT);
    long eventMs = Math.floorDiv(eventTime, 1000L);
    long watermark = Millis.NONE;
    if (!values.isNullAt(BucketPlan.WATERMARK_AT)) {
      watermark = Math.floorDiv(values.getLong(BucketPlan.WATERMARK_AT), 1000L);
    }
    long knot = values.getLong(BucketPlan.KNOT_AT);
    if (task.layout().isOrdered) {
      standing.eventTime = eventTime;
      standing.knot = knot;
      standing.id = values.getUTF8String(columns.size() - 1);
    }
    WindowSpec spec = task.spec();
    if (spec.isSliced()) {
      long slice = spec.slice(eventMs);
      long lastEnd = spec.lastEnd(slice);
      if (spec.isExpired(lastEnd, watermark)) {
        return one(
            task.inputs() > 1
                ? doubt(values, key, hash, eventMs, watermark, lastEnd)
                : late(values, hash, lastEnd, watermark - eventMs));
      }
      add(
          spec.firstEnd(slice) > watermark ? Message.ANY_KNOT : knot,
          slice,
          key,
          hash,
          values,
          eventMs,
          watermark);
    } else if (spec.isGlobal()) {
      add(knot, 0, key, hash, values, eventMs, watermark);
    } else if (spec.isSession()) {
      if (spec.isExpired(Millis.plus(eventMs, spec.gap), watermark)) {
        return one(
            doubt(values, key, hash, eventMs, watermark, Millis.plus(eventMs, spec.gap)));
      }
      // Records of one stretch as long as the gap are in one session, wherever in it they are.
      add(knot, Math.floorDiv(eventMs, spec.gap), key, hash, values, eventMs, watermark);
    } else {
      boolean isLate = true;
      long slice = spec.slice(eventMs);
      if (task.inputs() > 1 && spec.isExpired(spec.firstEnd(slice), watermark)) {
        return one(doubt(values, key, hash, eventMs, watermark, spec.lastEnd(slice)));
      }
      long last = spec.lastStart(slice);
      for (long start = spec.firstStart(slice);
          start <= last;
          start = Millis.plus(start, spec.slide)) {
        if (!spec.isExpired(Millis.plus(start, spec.size), watermark)) {
          isLate = false;
          add(knot, start, key, hash, values, eventMs, watermark);
        }
      }
      if (isLate) {
        return one(late(values, hash, spec.lastEnd(slice), watermark - eventMs));
      }
    }
    taken[Buckets.of(hash, task.buckets())]++;
    return entries < MOST_ENTRIES ? NONE : flush();
  }

  @Override
  protected Iterator<Message> end() {
    return flush();
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
              .computeIfAbsent(time, each -> new KeyTable(task.layout()));
      lastKnot = knot;
      lastTime = time;
    }
    int before = lastTable.size();
    int entry =
        lastTable.insert(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(), hash);
    entries += lastTable.size() - before;
    task.layout().add(lastTable, entry, values, standing, eventMs, watermark);
  }

  private Iterator<Message> flush() {
    List<Message> out = new ArrayList<>();
    tables.forEach((knot, times) -> times.forEach((time, table) -> send(knot, time, table, out)));
    for (int bucket = 0; bucket < taken.length; bucket++) {
      if (taken[bucket] > 0) {
        out.add(new Message(bucket, Message.TAKEN, 0, taken[bucket], new byte[0]));
        taken[bucket] = 0;
      }
    }
    tables.clear();
    entries = 0;
    lastTable = null;
    return out.iterator();
  }

  private void send(long knot, long time, KeyTable table, List<Message> out) {
    KeySegment[] segments = new KeySegment[task.buckets()];
    for (int entry = 0; entry < table.size(); entry++) {
      int bucket = Buckets.of(table.hash(entry), task.buckets());
      if (segments[bucket] == null) {
        segments[bucket] = new KeySegment(layoutId);
      }
      segments[bucket].add(table, entry, task.layout());
    }
    for (int bucket = 0; bucket < segments.length; bucket++) {
      if (segments[bucket] != null) {
        out.add(
            new Message(bucket, Message.SEGMENT, knot, time, segments[bucket].toArray()));
      }
    }
  }

  private Message dead(InternalRow values, int hash) {
    UnsafeRow letter = (UnsafeRow) values.getStruct(DEAD, deadColumns);
    Blob out = new Blob();
    out.putLong(letter.getSizeInBytes());
    out.putRaw(letter.getBaseObject(), letter.getBaseOffset(), letter.getSizeInBytes());
    return new Message(Buckets.of(hash, task.buckets()), Message.DEAD, 0, 0, out.toArray());
  }

  private Message late(InternalRow values, int hash, Long end, long lateness) {
    Long start = end == null ? null : end - task.spec().size;
    Blob out = new Blob();
    lateRow.write(lateColumns(values), start, end, end == null ? null : (Long) lateness, out);
    return new Message(Buckets.of(hash, task.buckets()), Message.LATE, 0, 0, out.toArray());
  }

  /**
   * A record of which only the bucket knows whether it is late, and if so for the window that has
   * this end.
   */
  private Message doubt(
      InternalRow values, UnsafeRow key, int hash, long eventMs, long watermark, long end) {
    KeyTable alone = new KeyTable(task.layout());
    int entry = alone.insert(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes(), hash);
    task.layout().add(alone, entry, values, standing, eventMs, watermark);
    Blob out = new Blob();
    out.putArray(KeySegment.of(alone, task.layout(), layoutId));
    long start = task.spec().isSession() ? eventMs : end - task.spec().size;
    lateRow.write(lateColumns(values), start, end, watermark - eventMs, out);
    int bucket = Buckets.of(hash, task.buckets());
    return new Message(
        bucket, Message.DOUBT, values.getLong(BucketPlan.KNOT_AT), eventMs, out.toArray());
  }

  private InternalRow lateColumns(InternalRow values) {
    if (values.isNullAt(LATE)) {
      throw new IllegalStateException("A late row has lost its columns.");
    }
    return values.getStruct(LATE, lateColumns);
  }
}
