package weft.kernel.operator;

import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import weft.kernel.bytes.Lent;
import weft.kernel.bytes.Mapped;
import weft.kernel.spark.AddressTask;
import weft.kernel.spark.Addressed;

/** A router's pass over one partition. */
final class Routing implements AddressTask {
  private static final long serialVersionUID = 1;

  private final Lent<Router> router;

  Routing(Lent<Router> router) {
    this.router = router;
  }

  /** Messages on their way to their buckets. */
  static Iterator<Addressed> addressed(Iterator<Message> messages) {
    return Mapped.of(messages, one -> new Addressed(one.bucket(), one.toBytes()));
  }

  @Override
  public Iterator<Addressed> send(Iterator<InternalRow> rows) {
    return addressed(new Pass(rows));
  }

  /** The messages of all rows, and those that come at the end. */
  private final class Pass implements Iterator<Message> {
    private final Iterator<InternalRow> rows;
    private final Router borrowed = router.borrow();
    private Iterator<Message> messages = Router.NONE;
    private boolean isOver;

    Pass(Iterator<InternalRow> rows) {
      this.rows = rows;
      borrowed.begin();
    }

    @Override
    public boolean hasNext() {
      while (!messages.hasNext() && !isOver) {
        if (rows.hasNext()) {
          messages = borrowed.take(rows.next());
        } else {
          messages = borrowed.end();
          isOver = true;
          router.giveBack(borrowed);
        }
      }
      return messages.hasNext();
    }

    @Override
    public Message next() {
      return messages.next();
    }
  }
}
