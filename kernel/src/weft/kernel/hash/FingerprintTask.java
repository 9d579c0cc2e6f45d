package weft.kernel.hash;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import weft.kernel.spark.RowBytes;

/** Hashes one partition of rows without writing them. */
public final class FingerprintTask
    implements FlatMapFunction<Iterator<InternalRow>, FingerprintTask.PartitionSum> {
  private static final long serialVersionUID = 1L;

  private final StructType schema;

  FingerprintTask(StructType schema) {
    this.schema = schema;
  }

  /** How many rows, and the sum of their hashes. */
  record PartitionSum(long rows, HashSum hash) implements java.io.Serializable {}

  @Override
  public Iterator<PartitionSum> call(Iterator<InternalRow> rows) {
    RecordHash hash = new RecordHash(schema);
    RowBytes bytes = new RowBytes(schema);
    while (rows.hasNext()) {
      hash.add(bytes.of(rows.next()));
    }
    return List.of(new PartitionSum(hash.rows(), hash.sum())).iterator();
  }
}
