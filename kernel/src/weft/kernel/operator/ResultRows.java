package weft.kernel.operator;

import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;

/**
 * The messages that buckets have ended with as rows: a result, a late row, a report or a dead
 * letter in each. A row is gone when the next is asked for.
 */
final class ResultRows implements Iterator<InternalRow> {
  private static final int RESULT = 0;
  private static final int LATE = 1;
  private static final int REPORT = 2;
  private static final int DEAD = 3;

  private final Iterator<Message> messages;
  private final GenericInternalRow[] rows = new GenericInternalRow[DEAD + 1];
  private final UnsafeRow[] structs = new UnsafeRow[DEAD + 1];
  private Blob in = Blob.reading(new byte[0]);
  private int column;
  private InternalRow report;

  ResultRows(Iterator<Message> messages, StructType schema) {
    this.messages = messages;
    for (int at : new int[] {RESULT, LATE, DEAD}) {
      structs[at] = new UnsafeRow(((StructType) schema.fields()[at].dataType()).size());
      rows[at] = row(at, structs[at]);
    }
  }

  @Override
  public boolean hasNext() {
    while (in.atEnd() && report == null && messages.hasNext()) {
      Message message = messages.next();
      if (message.kind() == Message.REPORT) {
        report = row(REPORT, UTF8String.fromBytes(message.payload()));
      } else {
        in = Blob.reading(message.payload());
        column = columnOf(message.kind());
      }
    }
    return !in.atEnd() || report != null;
  }

  private static int columnOf(int kind) {
    return kind == Message.RESULTS ? RESULT : kind == Message.LATE ? LATE : DEAD;
  }

  @Override
  public InternalRow next() {
    if (in.atEnd()) {
      InternalRow told = report;
      report = null;
      return told;
    }
    int size = (int) in.getLong();
    UnsafeRow struct = structs[column];
    struct.pointTo(in.array(), (long) Platform.BYTE_ARRAY_OFFSET + in.position(), size);
    in.seek(in.position() + size);
    return rows[column];
  }

  private static GenericInternalRow row(int column, Object value) {
    GenericInternalRow row = new GenericInternalRow(DEAD + 1);
    row.update(column, value);
    return row;
  }
}
