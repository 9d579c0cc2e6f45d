package weft.kernel.query;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import weft.kernel.bytes.Blob;
import weft.kernel.change.Desk;
import weft.kernel.change.Letter;
import weft.kernel.change.Station;
import weft.kernel.change.View;
import weft.kernel.spark.RowBytes;
import weft.kernel.spark.RowWriter;

/** Groups: rows come and go under the columns that they are grouped by; no row is kept. */
final class GroupStation implements Station {
  private static final long serialVersionUID = 1;
  private static final byte HEAD = 'a';

  private final StructType by;
  private final int own;
  private final Tally tally;
  private transient RowWriter writer;

  GroupStation(View view) {
    this.by = view.linkType();
    this.own = view.ownType().size();
    this.tally = new Tally(view);
  }

  StructType type() {
    return tally.type(by);
  }

  @Override
  public int level() {
    return 0;
  }

  @Override
  public void settle(byte[] link, List<Letter> letters, Desk desk) {
    byte[] name = Station.name(HEAD, 0, link);
    Tally.Group group = tally.new Group(desk.store(), link, desk.read(name));
    byte[] before = row(group, link);
    for (Letter letter : letters) {
      UnsafeRow values = RowBytes.reading(letter.value(), own);
      if (letter.kind() == Letter.REMOVE) {
        group.subtract(values, letter.row());
      } else {
        group.add(values, letter.row());
      }
    }
    Results.put(link, before, row(group, link), desk.outlet());
    Blob out = new Blob();
    group.write(out);
    desk.keep(name, out, group.isEmpty());
  }

  private byte[] row(Tally.Group group, byte[] link) {
    if (group.isEmpty()) {
      return null;
    }
    writer = writer == null ? RowWriter.of(new DataType[] {type()}) : writer;
    UnsafeRow columns = RowBytes.reading(link, by.size());
    Object[] values = new Object[type().size()];
    for (int at = 0; at < by.size(); at++) {
      values[at] = columns.get(at, by.fields()[at].dataType());
    }
    group.tell(values, by.size());
    return writer.toBytes(
        new GenericInternalRow(new Object[] {new GenericInternalRow(values)}));
  }
}
