package weft.kernel.spark;

import java.io.Serializable;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;

/** What goes through the rows of a partition, and sends what becomes of them. */
public interface AddressTask extends Serializable {
  /** What is sent; each row is gone when the next is asked for. */
  Iterator<Addressed> send(Iterator<InternalRow> rows);
}
