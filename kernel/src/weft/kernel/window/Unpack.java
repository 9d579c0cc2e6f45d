package weft.kernel.window;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.IterableOnce;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The last half of an operator with buckets: turns their messages into rows: results, late rows,
 * reports.
 */
final class Unpack extends RowGenerator {
  private static final long serialVersionUID = 1;
  private static final int PANE = 0;
  private static final int LATE = 1;
  private static final int DEAD = 3;
  private static final int COLUMNS = 4;

  Unpack(List<Expression> inputs, StructType elementSchema) {
    super(inputs, elementSchema, "");
  }

  @Override
  RowGenerator withChildren(List<Expression> replaced) {
    return new Unpack(replaced, elementSchema());
  }

  @Override
  public IterableOnce<InternalRow> eval(InternalRow row) {
    int kind = (Integer) inputs().get(0).eval(row);
    byte[] payload = (byte[]) inputs().get(1).eval(row);
    if (kind == Message.REPORT) {
      InternalRow report =
          new GenericInternalRow(new Object[] {null, null, UTF8String.fromBytes(payload), null});
      return CollectionConverters.asScala(List.of(report).iterator());
    }
    int column = kind == Message.PANES ? PANE : kind == Message.LATE ? LATE : DEAD;
    return CollectionConverters.asScala(new Rows(payload, column, elementSchema()));
  }

  /** The rows of one message; each is gone when the next is asked for. */
  private static final class Rows implements Iterator<InternalRow> {
    private final Blob in;
    private final int column;
    private final UnsafeRow struct;
    private final GenericInternalRow row = new GenericInternalRow(COLUMNS);

    Rows(byte[] payload, int column, StructType schema) {
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
