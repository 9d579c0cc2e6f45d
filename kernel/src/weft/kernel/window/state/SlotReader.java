package weft.kernel.window.state;

import weft.kernel.bytes.Blob;

/**
 * Reads written slots, also those of another layout: aggregates that it does not have are missing.
 */
public final class SlotReader {
  private final SlotLayout layout;
  private final SlotLayout written;
  private final int[] places;
  private final long[] slots;
  private final Object[] values;
  private final long missing;

  public SlotReader(SlotLayout layout, SlotLayout written) {
    this.layout = layout;
    this.written = written;
    this.places = layout == written ? null : layout.placesIn(written);
    this.slots = new long[written.longs];
    this.values = new Object[written.objects];
    long absent = 0;
    for (int at = 0; places != null && at < places.length; at++) {
      absent |= places[at] < 0 ? 1L << at : 0;
    }
    this.missing = absent;
  }

  /** A bit for each aggregate that what is read has no value for. */
  long missing() {
    return missing;
  }

  /** The same, when some aggregates were already missing from what is read. */
  long missing(long before) {
    if (places == null) {
      return before;
    }
    long bits = missing;
    for (int at = 0; at < places.length; at++) {
      bits |= places[at] >= 0 ? (before >> places[at] & 1) << at : 0;
    }
    return bits;
  }

  /** Reads the slots of one entry, into empty ones or into those of an entry that is there. */
  public void read(Blob in, long[] longs, int l, Object[] objects, int o, boolean isNew) {
    if (isNew && places == null) {
      layout.read(in, longs, l, objects, o);
      return;
    }
    written.read(in, slots, 0, values, 0);
    if (places == null) {
      layout.merge(longs, l, objects, o, slots, 0, values, 0);
      return;
    }
    layout.mergeTimes(longs, l, slots, 0, written);
    for (int at = 0; at < places.length; at++) {
      if (places[at] >= 0) {
        layout.accumulators[at].merge(
            longs,
            l + layout.longAt[at],
            objects,
            o + layout.objectAt[at],
            slots,
            written.longAt[places[at]],
            values,
            written.objectAt[places[at]]);
      }
    }
  }
}
