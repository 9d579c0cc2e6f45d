package weft.kernel;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Hashes rows by the file that they are from: the first column is the file, the second the row as a struct. */
final class FileHashTask implements FlatMapFunction<Iterator<InternalRow>, FileHashTask.Sum> {
  private static final long serialVersionUID = 1L;

  private final StructType schema;

  FileHashTask(StructType schema) {
    this.schema = schema;
  }

  /** How many rows of a file there are, and the sum of their hashes. */
  record Sum(String file, long rows, HashSum hash) implements java.io.Serializable {}

  @Override
  public Iterator<Sum> call(Iterator<InternalRow> rows) {
    StructType inner = (StructType) schema.fields()[1].dataType();
    Map<UTF8String, RecordHash> hashes = new HashMap<>();
    UnsafeProjection projection = UnsafeProjection.create(schema);
    UTF8String file = null;
    RecordHash hash = null;
    while (rows.hasNext()) {
      InternalRow next = rows.next();
      UnsafeRow row = next instanceof UnsafeRow unsafe ? unsafe : projection.apply(next);
      UTF8String name = row.getUTF8String(0);
      if (!name.equals(file)) {
        file = name.copy();
        hash = hashes.computeIfAbsent(file, each -> new RecordHash(inner));
      }
      hash.add(row.getStruct(1, inner.length()));
    }
    List<Sum> sums = new ArrayList<>();
    hashes.forEach((name, found) -> sums.add(new Sum(name.toString(), found.rows(), found.sum())));
    return sums.iterator();
  }
}
