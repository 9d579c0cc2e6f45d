package weft.kernel.spark;

import java.lang.reflect.Field;
import org.apache.hadoop.conf.Configuration;
import org.apache.parquet.column.ColumnWriteStore;
import org.apache.parquet.hadoop.ParquetOutputFormat;
import org.apache.parquet.io.api.RecordConsumer;
import org.apache.parquet.schema.MessageType;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.parquet.ParquetWriteSupport;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * Writes rows to a Parquet file straight into its columns. Spark tells each value to Parquet in
 * events, of which Parquet makes levels and columns again: with long lists that was most of what
 * a document cost. The file is the same.
 */
public final class ParquetRows extends ParquetWriteSupport {
  private StructType rows;
  private MessageType file;
  private RowBytes bytes;
  private ColumnWriteStore store;
  private ParquetColumns.RowColumns columns;

  /** Has rows be written this way under some settings, if they can be. */
  static void use(StructType rows, SQLConf session, Configuration settings) {
    boolean isAsItIs =
        "CORRECTED".equals(session.getConf(SQLConf.PARQUET_REBASE_MODE_IN_WRITE()).toString())
            && !session.writeLegacyParquetFormat();
    if (isAsItIs && ParquetColumns.take(rows)) {
      settings.set(ParquetOutputFormat.WRITE_SUPPORT_CLASS, ParquetRows.class.getName());
    }
  }

  @Override
  public WriteContext init(Configuration conf) {
    WriteContext context = super.init(conf);
    rows = (StructType) DataType.fromJson(conf.get(ParquetWriteSupport.SPARK_ROW_SCHEMA()));
    file = context.getSchema();
    bytes = new RowBytes(rows);
    return context;
  }

  /** Called again for each group of rows, whose columns are new. */
  @Override
  public void prepareForWrite(RecordConsumer consumer) {
    super.prepareForWrite(consumer);
    try {
      Field columnsOf = consumer.getClass().getDeclaredField("columns");
      columnsOf.setAccessible(true);
      store = (ColumnWriteStore) columnsOf.get(consumer);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("This Parquet keeps its columns elsewhere.", e);
    }
    columns = ParquetColumns.of(rows, file, store);
  }

  @Override
  public void write(InternalRow row) {
    columns.writeRow(bytes.of(row), 0, 0);
    store.endRecord();
  }
}
