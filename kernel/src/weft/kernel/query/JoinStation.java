package weft.kernel.query;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.change.Desk;
import weft.kernel.change.Letter;
import weft.kernel.change.Station;
import weft.kernel.spark.RowBytes;

/** A join: rows of two streams meet under the columns that must be equal. */
final class JoinStation implements Station {
  private static final long serialVersionUID = 1;
  private static final byte HEAD = 'a';
  private static final byte[] ROWS = {'l', 'r'};

  private final JoinKind kind;
  private final int links;
  private final OutRow out;

  JoinStation(JoinKind kind, int links, OutRow out) {
    this.kind = kind;
    this.links = links;
    this.out = out;
  }

  @Override
  public int level() {
    return 1;
  }

  @Override
  public void settle(byte[] link, List<Letter> letters, Desk desk) {
    // Null equals nothing: rows with one in their link have no partner, and need not be kept.
    boolean canMatch = !RowBytes.reading(link, links).anyNull();
    Meeting meeting = new Meeting(desk, canMatch ? link : null);
    letters.forEach(meeting::take);
    meeting.tell();
    meeting.keep();
  }

  /** What a batch makes of a row: before and after it; null where it is not there. */
  private static final class Turn {
    byte[] before;
    byte[] after;
  }

  /** The rows of one side. */
  private static final class Side {
    final KeyedValues rows;
    final Map<UTF8String, Turn> turns = new LinkedHashMap<>();

    Side(KeyedValues rows) {
      this.rows = rows;
    }

    int sizeAfter() {
      int size = rows.size();
      for (Turn turn : turns.values()) {
        size += (turn.after == null ? 0 : 1) - (turn.before == null ? 0 : 1);
      }
      return size;
    }

    /** The rows that are before the batch what they are after it. */
    void forOthers(Consumer<byte[]> each) {
      rows.forEach(
          (key, row) -> {
            if (!turns.containsKey(UTF8String.fromBytes(key.toArray()))) {
              each.accept(row.toArray());
            }
          });
    }

    void keep() {
      turns.forEach(
          (key, turn) -> {
            if (turn.after == null) {
              rows.remove(key.getBytes());
            } else {
              rows.put(key.getBytes(), turn.after);
            }
          });
    }
  }

  /** One place in one batch. */
  private final class Meeting {
    private final Desk desk;
    private final byte[] name;
    private final Side[] sides = new Side[2];

    /**
     * @param link null where rows cannot match
     */
    Meeting(Desk desk, byte[] link) {
      this.desk = desk;
      this.name = link == null ? null : Station.name(HEAD, 0, link);
      Blob in = link == null ? null : desk.read(name);
      for (int side = 0; side < sides.length; side++) {
        byte[] rows = link == null ? null : Station.name(ROWS[side], 0, link);
        sides[side] = new Side(new KeyedValues(desk.store(), rows, in));
      }
    }

    void take(Letter letter) {
      Map<UTF8String, Turn> turns = sides[letter.part()].turns;
      Turn turn = turns.computeIfAbsent(UTF8String.fromBytes(letter.row()), key -> new Turn());
      if (letter.kind() == Letter.REMOVE) {
        turn.before = letter.value();
      } else {
        turn.after = letter.value();
      }
    }

    void tell() {
      if (kind.showsPairs && name != null) {
        tellPairs(sides[0].turns, sides[1].turns);
      }
      for (int side = 0; side < sides.length; side++) {
        Side other = sides[1 - side];
        boolean wasAlone = name == null || other.rows.size() == 0;
        boolean isAlone = name == null || other.sizeAfter() == 0;
        tellSide(side, kind.shows(side, wasAlone), kind.shows(side, isAlone));
      }
    }

    private void tellPairs(Map<UTF8String, Turn> lefts, Map<UTF8String, Turn> rights) {
      for (Turn left : lefts.values()) {
        for (Turn right : rights.values()) {
          takeBack(left.before, right.before);
          show(left.after, right.after);
        }
      }
      if (!lefts.isEmpty()) {
        sides[1].forOthers(right -> lefts.values().forEach(left -> pair(left, right)));
      }
      if (!rights.isEmpty()) {
        sides[0].forOthers(left -> rights.values().forEach(right -> pair(left, right)));
      }
    }

    private void pair(Turn left, byte[] right) {
      takeBack(left.before, right);
      show(left.after, right);
    }

    private void pair(byte[] left, Turn right) {
      takeBack(left, right.before);
      show(left, right.after);
    }

    /** Tells of a pair, if there is one. */
    private void takeBack(byte[] left, byte[] right) {
      if (left != null && right != null) {
        out.takeBack(left, right, desk.post());
      }
    }

    private void show(byte[] left, byte[] right) {
      if (left != null && right != null) {
        out.show(left, right, desk.post());
      }
    }

    /** Tells of the rows of a side that come out by themselves. */
    private void tellSide(int side, boolean before, boolean after) {
      for (Turn turn : sides[side].turns.values()) {
        tellRow(side, before ? turn.before : null, after ? turn.after : null);
      }
      if (before != after) {
        sides[side].forOthers(row -> tellRow(side, before ? row : null, after ? row : null));
      }
    }

    private void tellRow(int side, byte[] before, byte[] after) {
      if (before != null) {
        out.takeBack(side == 0 ? before : null, side == 0 ? null : before, desk.post());
      }
      if (after != null) {
        out.show(side == 0 ? after : null, side == 0 ? null : after, desk.post());
      }
    }

    void keep() {
      if (name == null) {
        return;
      }
      Blob written = new Blob();
      for (Side side : sides) {
        side.keep();
        side.rows.write(written);
      }
      desk.keep(name, written, sides[0].rows.size() == 0 && sides[1].rows.size() == 0);
    }
  }
}
