package weft.kernel.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/** Writes columns of a row as the bytes of one row, which the next one is written over. */
public final class RowWriter {
  private final UnsafeProjection projection;

  private RowWriter(UnsafeProjection projection) {
    this.projection = projection;
  }

  static RowWriter of(List<Expression> columns) {
    return new RowWriter(UnsafeProjection.create(CollectionConverters.asScala(columns).toList()));
  }

  /** Writes rows of these columns whole. */
  public static RowWriter of(StructType type) {
    return new RowWriter(UnsafeProjection.create(type));
  }

  /** Writes rows of columns of these types whole. */
  public static RowWriter of(DataType[] types) {
    return new RowWriter(UnsafeProjection.create(types));
  }

  /** Writes columns of these types, each of which stands at a place of its own in the row. */
  public static RowWriter picking(StructType type, int[] places) {
    List<Expression> columns = new ArrayList<>();
    for (StructField field : type.fields()) {
      columns.add(new BoundReference(places[columns.size()], field.dataType(), true));
    }
    return of(columns);
  }

  /** The bytes of the row, which are the caller's own. */
  public byte[] toBytes(InternalRow row) {
    return projection.apply(row).copy().getBytes();
  }

  /** The row, whose bytes hold until the next one is written. */
  public UnsafeRow write(InternalRow row) {
    return projection.apply(row);
  }
}
