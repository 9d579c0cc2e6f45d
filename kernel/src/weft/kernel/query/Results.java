package weft.kernel.query;

import java.util.Arrays;
import java.util.List;
import weft.kernel.change.Desk;
import weft.kernel.change.Letter;
import weft.kernel.change.Outlet;
import weft.kernel.change.Post;
import weft.kernel.change.Station;

/**
 * Where the places of a query meet under the key of a result: what one of them takes back, another
 * may show. Nothing is kept: a result is taken back as it was shown.
 */
final class Results implements Station {
  private static final long serialVersionUID = 1;
  private static final int NUMBER = 0;
  private static final byte[] NOBODY = {};

  @Override
  public int level() {
    return 0;
  }

  /** Tells that a result is no more what it was. */
  static void takeBack(byte[] key, byte[] value, Post post) {
    post.send(new Letter(Letter.REMOVE, NUMBER, key, NOBODY, value, 0));
  }

  /** Tells what a result is now. */
  static void show(byte[] key, byte[] value, Post post) {
    post.send(new Letter(Letter.ROW, NUMBER, key, NOBODY, value, 0));
  }

  @Override
  public void settle(byte[] link, List<Letter> letters, Desk desk) {
    byte[] before = null;
    byte[] after = null;
    for (Letter letter : letters) {
      if (letter.kind() == Letter.REMOVE) {
        before = letter.value();
      } else {
        after = letter.value();
      }
    }
    put(link, before, after, desk.outlet());
  }

  /** Puts a result out, if it is another one than before; null is for none. */
  static void put(byte[] key, byte[] before, byte[] after, Outlet outlet) {
    if (!Arrays.equals(before, after)) {
      outlet.put(before == null ? "c" : after == null ? "d" : "u", key, after);
    }
  }
}
