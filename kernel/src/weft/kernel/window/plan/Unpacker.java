package weft.kernel.window.plan;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.spark.Inputs;
import weft.kernel.spark.RowGenerator;
import weft.kernel.window.bucket.BucketMessage;

/**
 * The last half of an operator with buckets: turns their messages into rows: results, late rows,
 * reports.
 */
final class Unpacker extends RowGenerator {
  private static final long serialVersionUID = 1;
  private static final int PANE = 0;
  private static final int LATE = 1;
  private static final int DEAD = 3;
  private static final int COLUMNS = 4;

  Unpacker(Inputs inputs, StructType elementSchema) {
    super(inputs, elementSchema, "");
  }

  @Override
  protected RowGenerator over(Inputs replaced) {
    return new Unpacker(replaced, elementSchema());
  }

  @Override
  protected Iterator<InternalRow> take(InternalRow row) {
    int kind = (Integer) inputs().value(0, row);
    byte[] payload = (byte[]) inputs().value(1, row);
    if (kind == BucketMessage.REPORT) {
      InternalRow report =
          new GenericInternalRow(new Object[] {null, null, UTF8String.fromBytes(payload), null});
      return List.of(report).iterator();
    }
    int column = kind == BucketMessage.PANES ? PANE : kind == BucketMessage.LATE ? LATE : DEAD;
    return new MessageRows(payload, column, elementSchema());
  }

  /** The rows of one message; each is gone when the next is asked for. */
  private static final class MessageRows implements Iterator<InternalRow> {
    private final Blob in;
    private final int column;
    private final UnsafeRow struct;
    private final GenericInternalRow row = new GenericInternalRow(COLUMNS);

    MessageRows(byte[] payload, int column, StructType schema) {
      this.in = Blob.reading(payload);
      this.column = column;
      this.struct = new UnsafeRow(((StructType) schema.fields()[column].dataType()).size());
    }

    @Override
    public boolean hasNext() {
      return !in.atEnd();
    }

    @Override
    public InternalRow next() {
      int size = (int) in.getLong();
      struct.pointTo(in.array(), (long) Platform.BYTE_ARRAY_OFFSET + in.position(), size);
      in.seek(in.position() + size);
      row.update(column, struct);
      return row;
    }
  }
}
