package weft.kernel.query;

import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.change.Desk;
import weft.kernel.change.Letter;
import weft.kernel.change.Station;
import weft.kernel.change.View;
import weft.kernel.spark.RowBytes;

/** The first rows of each place in an order. All rows are kept, and the first ones are shown. */
final class TopStation implements Station {
  private static final long serialVersionUID = 1;
  private static final byte HEAD = 'a';
  private static final byte PAGES = 'p';

  private final View view;
  private final int limit;
  private final int own;
  private final OutRow out;
  private transient Comparator<InternalRow> order;

  TopStation(View view, int limit, OutRow out) {
    this.view = view;
    this.limit = limit;
    this.own = view.ownType().size();
    this.out = out;
  }

  @Override
  public int level() {
    return 1;
  }

  @Override
  public void settle(byte[] link, List<Letter> letters, Desk desk) {
    order = order == null ? view.order() : order;
    byte[] name = Station.name(HEAD, 0, link);
    SortedValues rows =
        new SortedValues(
            desk.store(),
            Station.name(PAGES, 0, link),
            desk.read(name),
            (one, other) ->
                order.compare(RowBytes.reading(one, own), RowBytes.reading(other, own)));
    Map<UTF8String, byte[]> before = shown(rows);
    for (Letter letter : letters) {
      if (letter.kind() == Letter.REMOVE) {
        rows.remove(letter.value(), letter.row());
      } else {
        rows.add(letter.value(), letter.row());
      }
    }
    Map<UTF8String, byte[]> after = shown(rows);
    before.forEach(
        (key, value) -> {
          if (!Arrays.equals(value, after.get(key))) {
            out.takeBack(value, null, desk.post());
          }
        });
    after.forEach(
        (key, value) -> {
          if (!Arrays.equals(value, before.get(key))) {
            out.show(value, null, desk.post());
          }
        });
    Blob kept = new Blob();
    rows.write(kept);
    desk.keep(name, kept, rows.isEmpty());
  }

  /** The rows that are shown, by their keys. */
  private Map<UTF8String, byte[]> shown(SortedValues rows) {
    Map<UTF8String, byte[]> found = new LinkedHashMap<>();
    for (Page.Sorted each : rows.first(limit)) {
      found.put(UTF8String.fromBytes(each.key()), each.value());
    }
    return found;
  }
}
