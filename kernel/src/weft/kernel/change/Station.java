package weft.kernel.change;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.List;

/** Where letters go, each to the place of its link: a node of a product, the heart of a query. */
public interface Station extends Serializable {
  /** How many levels of stations come after it; those of level 0 put results out. */
  int level();

  /**
   * Takes the letters that a batch has brought to one of its places: by their kinds, and in one
   * order whatever order they came in.
   */
  void settle(byte[] link, List<Letter> letters, Desk desk);

  /** Whether it takes the letters of a batch also in several goes, before what {@link #settle}s. */
  default boolean takesAhead() {
    return false;
  }

  /** Takes letters of a batch that has more to bring, and puts out nothing yet. */
  default void takeAhead(byte[] link, List<Letter> letters, Desk desk) {
    throw new UnsupportedOperationException("This station takes all letters of a batch at once.");
  }

  /**
   * The name under which a place keeps one of its things; those of a kind have names of a form. No
   * name begins with another, so that things may be kept below one.
   */
  static byte[] name(byte kind, int number, byte[] link) {
    return ByteBuffer.allocate(1 + 2 * Integer.BYTES + link.length)
        .put(kind)
        .putInt(number)
        .putInt(link.length)
        .put(link)
        .array();
  }
}
