package weft.kernel;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;

/** Hashes one partition of rows without writing them. */
final class FingerprintTask implements FlatMapFunction<Iterator<InternalRow>, FingerprintTask.Sum> {
  private static final long serialVersionUID = 1L;

  private final StructType schema;

  FingerprintTask(StructType schema) {
    this.schema = schema;
  }

  /** How many rows, and the sum of their hashes. */
  record Sum(long rows, HashSum hash) implements java.io.Serializable {}

  @Override
  public Iterator<Sum> call(Iterator<InternalRow> rows) {
    RecordHash hash = new RecordHash(schema);
    UnsafeProjection projection = null;
    while (rows.hasNext()) {
      InternalRow next = rows.next();
      if (!(next instanceof UnsafeRow)) {
        projection = projection == null ? UnsafeProjection.create(schema) : projection;
        next = projection.apply(next);
      }
      hash.add((UnsafeRow) next);
    }
    return List.of(new Sum(hash.rows(), hash.sum())).iterator();
  }
}
