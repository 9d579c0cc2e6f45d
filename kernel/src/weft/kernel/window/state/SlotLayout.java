package weft.kernel.window.state;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import weft.kernel.bytes.Blob;
import weft.kernel.json.Json;
import weft.kernel.window.aggregate.Accumulator;
import weft.kernel.window.aggregate.Aggregate;
import weft.kernel.window.aggregate.Standing;
import weft.kernel.window.time.Millis;

/**
 * Where the accumulators of one key lie among its slots.
 *
 * <p>The first slot counts records. Then, where they are needed: the lowest or highest event time
 * that may still stamp a pane, and the first and last event time. Then the aggregates. Its id names
 * the form, so that state written under another list of aggregates is recognised and read.
 */
public final class SlotLayout implements Serializable {
  private static final long serialVersionUID = 1;

  /** Added to event times in slots, so that the zero of a new slot means none. */
  private static final long BIAS = 1L << 62;

  public static final int RECORDS = 0;

  public final List<Aggregate> aggregates;
  public final Accumulator[] accumulators;
  public final int[] longAt;
  public final int[] objectAt;
  public final int longs;
  public final int objects;
  public final boolean isOrdered;
  private final boolean stampsLatest;
  private final int hold;
  private final int span;

  public SlotLayout(
      List<Aggregate> aggregates, int firstArgument, String timestamp, boolean hasSpan) {
    if (aggregates.size() > Long.SIZE) {
      throw new IllegalArgumentException("A window has at most " + Long.SIZE + " aggregates.");
    }
    this.aggregates = List.copyOf(aggregates);
    this.accumulators = new Accumulator[aggregates.size()];
    this.longAt = new int[accumulators.length];
    this.objectAt = new int[accumulators.length];
    this.stampsLatest = timestamp.equals("latest");
    int nextLong = RECORDS + 1;
    int nextObject = 0;
    int argument = firstArgument;
    boolean ordered = false;
    this.hold = timestamp.equals("end") ? -1 : nextLong++;
    this.span = hasSpan ? nextLong : -1;
    nextLong += hasSpan ? 2 : 0;
    for (int at = 0; at < accumulators.length; at++) {
      accumulators[at] = aggregates.get(at).accumulator(argument);
      argument += aggregates.get(at).types().size();
      longAt[at] = nextLong;
      objectAt[at] = nextObject;
      nextLong += accumulators[at].longs();
      nextObject += accumulators[at].objects();
      ordered |= accumulators[at].isOrdered();
    }
    this.longs = nextLong;
    this.objects = nextObject;
    this.isOrdered = ordered;
  }

  /** The text from which `fromJson` makes a layout that reads the same state. */
  String toJson() {
    ObjectNode node = Json.object();
    node.put("timestamp", hold < 0 ? "end" : stampsLatest ? "latest" : "earliest")
        .put("span", span >= 0);
    aggregates.forEach(each -> node.withArray("aggregates").add(each.toJson()));
    return node.toString();
  }

  public static SlotLayout fromJson(String text) {
    JsonNode node = Json.parse(text);
    List<Aggregate> aggregates = new ArrayList<>();
    node.path("aggregates").forEach(each -> aggregates.add(Aggregate.fromJson(each)));
    return new SlotLayout(
        aggregates, 0, node.get("timestamp").textValue(), node.get("span").booleanValue());
  }

  public int id() {
    return toJson().hashCode();
  }

  /** Takes one record into the slots of an entry. */
  public void add(
      KeyTable table, int entry, InternalRow row, Standing standing, long eventMs, long watermark) {
    long[] slots = table.longs();
    int l = entry * longs;
    slots[l + RECORDS]++;
    if (hold >= 0 && eventMs >= watermark) {
      hold(slots, l, eventMs + BIAS);
    }
    if (span >= 0) {
      span(slots, l, eventMs + BIAS, eventMs + BIAS);
    }
    for (int at = 0; at < accumulators.length; at++) {
      accumulators[at].add(
          slots, l + longAt[at], table.objects(), entry * objects + objectAt[at], row, standing);
    }
  }

  /** Takes the slots of another entry of the same layout in. */
  void merge(
      long[] into,
      int l,
      Object[] intoObjects,
      int o,
      long[] from,
      int fl,
      Object[] fromObjects,
      int fo) {
    mergeTimes(into, l, from, fl, this);
    for (int at = 0; at < accumulators.length; at++) {
      int la = longAt[at];
      int oa = objectAt[at];
      accumulators[at].merge(
          into, l + la, intoObjects, o + oa, from, fl + la, fromObjects, fo + oa);
    }
  }

  /** Counts and times, which every layout has, though in slots of its own. */
  void mergeTimes(long[] into, int l, long[] from, int fl, SlotLayout other) {
    into[l + RECORDS] += from[fl + RECORDS];
    if (hold >= 0 && other.hold >= 0 && from[fl + other.hold] != 0) {
      hold(into, l, from[fl + other.hold]);
    }
    if (span >= 0 && other.span >= 0 && from[fl + other.span] != 0) {
      span(into, l, from[fl + other.span], from[fl + other.span + 1]);
    }
  }

  private void hold(long[] slots, int l, long time) {
    long before = slots[l + hold];
    if (before == 0 || (stampsLatest ? time > before : time < before)) {
      slots[l + hold] = time;
    }
  }

  private void span(long[] slots, int l, long first, long last) {
    int at = l + span;
    slots[at] = slots[at] == 0 ? first : Math.min(slots[at], first);
    slots[at + 1] = Math.max(slots[at + 1], last);
  }

  /** The event time that stamps a pane of this entry, or null for the window's end. */
  public Long stamp(long[] slots, int l) {
    return hold < 0 || slots[l + hold] == 0 ? null : slots[l + hold] - BIAS;
  }

  /** Empties the slots of one entry, but for its first and last event time. */
  void clear(long[] slots) {
    long first = span < 0 ? 0 : slots[span];
    long last = span < 0 ? 0 : slots[span + 1];
    Arrays.fill(slots, 0);
    if (span >= 0) {
      slots[span] = first;
      slots[span + 1] = last;
    }
  }

  public void clearStamp(long[] slots, int l) {
    if (hold >= 0) {
      slots[l + hold] = 0;
    }
  }

  /** The first event time; the lowest long where nothing is known of it. */
  public long first(long[] slots, int l) {
    return span < 0 || slots[l + span] == 0 ? Millis.NONE : slots[l + span] - BIAS;
  }

  public long last(long[] slots, int l) {
    return slots[l + span + 1] - BIAS;
  }

  public void write(long[] slots, int l, Object[] values, int o, Blob out) {
    out.putLongs(slots, l, longs);
    for (int at = 0; at < accumulators.length && objects > 0; at++) {
      for (int each = 0; each < accumulators[at].objects(); each++) {
        accumulators[at].write(values[o + objectAt[at] + each], out);
      }
    }
  }

  void read(Blob in, long[] slots, int l, Object[] values, int o) {
    in.getLongs(slots, l, longs);
    for (int at = 0; at < accumulators.length && objects > 0; at++) {
      for (int each = 0; each < accumulators[at].objects(); each++) {
        values[o + objectAt[at] + each] = accumulators[at].read(in);
      }
    }
  }

  /**
   * For each aggregate here, its place in another layout, or -1 where that has no such aggregate.
   */
  int[] placesIn(SlotLayout other) {
    int[] places = new int[accumulators.length];
    for (int at = 0; at < places.length; at++) {
      places[at] = -1;
      String text = aggregates.get(at).toJson().toString();
      for (int there = 0; there < other.aggregates.size(); there++) {
        if (other.aggregates.get(there).toJson().toString().equals(text)) {
          places[at] = there;
        }
      }
    }
    return places;
  }
}
