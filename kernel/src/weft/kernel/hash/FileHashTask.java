package weft.kernel.hash;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.spark.RowBytes;

/** Hashes rows by the file that they are from, which is their last column. */
public final class FileHashTask
    implements FlatMapFunction<Iterator<InternalRow>, FileHashTask.FileSum> {
  private static final long serialVersionUID = 1L;

  private final StructType schema;

  FileHashTask(StructType schema) {
    this.schema = schema;
  }

  /** How many rows of a file there are, and the sum of their hashes. */
  record FileSum(String file, long rows, HashSum hash) implements java.io.Serializable {}

  @Override
  public Iterator<FileSum> call(Iterator<InternalRow> rows) {
    int last = schema.length() - 1;
    StructType columns = new StructType(Arrays.copyOf(schema.fields(), last));
    Map<UTF8String, RecordHash> hashes = new HashMap<>();
    RowBytes bytes = new RowBytes(schema);
    UTF8String file = null;
    RecordHash hash = null;
    while (rows.hasNext()) {
      UnsafeRow row = bytes.of(rows.next());
      UTF8String name = row.getUTF8String(last);
      if (!name.equals(file)) {
        file = name.copy();
        hash = hashes.computeIfAbsent(file, each -> new RecordHash(columns));
      }
      hash.add(row);
    }
    List<FileSum> sums = new ArrayList<>();
    hashes.forEach(
        (name, found) -> sums.add(new FileSum(name.toString(), found.rows(), found.sum())));
    return sums.iterator();
  }
}
