package weft.kernel.source;

import java.util.Set;
import java.util.function.Supplier;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A table that is read as a stream of micro-batches, or once more between two of its offsets.
 * Options of the latter: {@code from} and {@code to}.
 */
final class SourceTable implements Table, SupportsRead {
  private final String name;
  private final StructType schema;
  private final Supplier<MicroBatchStream> stream;

  SourceTable(String name, StructType schema, Supplier<MicroBatchStream> stream) {
    this.name = name;
    this.schema = schema;
    this.stream = stream;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  @Deprecated
  public StructType schema() {
    return schema;
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of(TableCapability.MICRO_BATCH_READ, TableCapability.BATCH_READ);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return () ->
        new Scan() {
          @Override
          public StructType readSchema() {
            return schema;
          }

          @Override
          public String description() {
            return name;
          }

          @Override
          public MicroBatchStream toMicroBatchStream(String checkpoint) {
            return stream.get();
          }

          @Override
          public Batch toBatch() {
            return new BatchAgain(stream.get(), options.get("from"), options.get("to"));
          }
        };
  }
}
