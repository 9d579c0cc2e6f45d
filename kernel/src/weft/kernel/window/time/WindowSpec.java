package weft.kernel.window.time;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;

/**
 * A declared window: its lengths in milliseconds, how late a record may be, and when panes come.
 *
 * <p>Sliding windows share slices: the longest stretches of time that no window begins or ends in.
 */
public final class WindowSpec implements Serializable {
  private static final long serialVersionUID = 1;

  /** No count and no time: never. */
  public static final long NEVER = 0;

  final String type;
  public final long size;
  public final long slide;
  public final long gap;
  final long offset;
  public final long lateness;

  /** How long after its last record a key of a global window is kept; {@link #NEVER} for always. */
  public final long ttl;

  public final String timestamp;
  public final boolean accumulates;
  public final boolean isFinal;
  public final boolean isPlain;
  public final long earlyCount;
  public final long earlyEvery;
  public final long lateCount;
  private final long width;
  private final String text;

  public WindowSpec(JsonNode window) {
    this.text = window.toString();
    this.type = window.get("type").textValue();
    this.size = window.path("size_ms").asLong();
    this.slide = window.path("slide_ms").asLong(size);
    this.gap = window.path("gap_ms").asLong();
    this.offset = centred(window.path("offset_ms").asLong(), slide);
    this.lateness = window.path("allowed_lateness_ms").asLong();
    this.ttl = window.path("ttl_ms").asLong(NEVER);
    this.accumulates = window.path("accumulate").asBoolean(true);
    this.timestamp = window.path("timestamp").asText(isGlobal() ? "latest" : "end");
    JsonNode trigger = window.path("trigger");
    this.isFinal = trigger.path("final").asBoolean();
    this.isPlain = trigger.has("count") || trigger.has("every_ms");
    JsonNode early = isPlain ? trigger : trigger.path("early");
    this.earlyCount = early.path("count").asLong(NEVER);
    this.earlyEvery = early.path("every_ms").asLong(NEVER);
    this.lateCount = trigger.path("late").path("count").asLong(1);
    this.width = gcd(size, slide);
  }

  /** The same grid by the offset nearest to zero, so that sums with it stay far from the limits. */
  private static long centred(long offset, long slide) {
    if (slide == 0) {
      return 0;
    }
    long rest = Math.floorMod(offset, slide);
    return rest > slide / 2 ? rest - slide : rest;
  }

  private static long gcd(long a, long b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  /** The window as it was declared, as JSON. */
  @Override
  public String toString() {
    return text;
  }

  public boolean isSession() {
    return type.equals("session");
  }

  public boolean isGlobal() {
    return type.equals("global");
  }

  /** Whether the first and last event time of a window matter. */
  public boolean hasSpan() {
    return isSession() || ttl != NEVER || earlyEvery != NEVER;
  }

  /** Whether all keys of a window fire together, so that slices of many keys can be kept as one. */
  public boolean isSliced() {
    return !isSession()
        && !isGlobal()
        && !isPlain
        && earlyCount == NEVER
        && earlyEvery == NEVER
        && lateCount == 1;
  }

  /** The start of the slice that holds an event time. */
  public long slice(long eventMs) {
    return Millis.plus(Millis.floor(Millis.minus(eventMs, offset), width), offset);
  }

  public long width() {
    return width;
  }

  /** The start of the first window that holds a slice. */
  public long firstStart(long slice) {
    long earliest = Millis.minus(Millis.plus(slice, width), size);
    return Millis.plus(Millis.ceiling(Millis.minus(earliest, offset), slide), offset);
  }

  /** The start of the last window that holds a slice. */
  public long lastStart(long slice) {
    return Millis.plus(Millis.floor(Millis.minus(slice, offset), slide), offset);
  }

  public long firstEnd(long slice) {
    return Millis.plus(firstStart(slice), size);
  }

  public long lastEnd(long slice) {
    return Millis.plus(lastStart(slice), size);
  }

  /** The first end of any window after a time. */
  public long endAfter(long time) {
    long start = Millis.next(Millis.minus(Millis.minus(time, offset), size), slide);
    return Millis.plus(Millis.plus(start, offset), size);
  }

  public boolean isEnded(long end, long watermark) {
    return watermark != Millis.NONE && end <= watermark;
  }

  /** Whether the lateness of a window with this end has passed at a watermark. */
  public boolean isExpired(long end, long watermark) {
    return watermark != Millis.NONE && end <= Millis.minus(watermark, lateness);
  }
}
