package weft.kernel.change;

import java.util.Arrays;

/**
 * Where a row of a table stands as a row of one station.
 *
 * @param link what links it to its parent
 * @param own its values that the station needs
 * @param links for each part of it, where this row looks for its rows; null for nowhere
 */
record Place(byte[] link, byte[] own, byte[][] links) {

  boolean isAt(byte[] other) {
    return Arrays.equals(link, other);
  }

  /** Where rows of a part are looked for, or null for nowhere. */
  static byte[] linkOf(Place place, int part) {
    return place == null ? null : place.links[part];
  }
}
