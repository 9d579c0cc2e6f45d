package weft.kernel.spark.stream;

import java.io.IOException;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.sources.StreamSourceProvider;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Map;
import weft.kernel.hash.RecordHash;
import weft.kernel.spark.Sneaky;
import weft.kernel.stream.StreamOptions;

/** Makes {@code spark.readStream.format("weft-stream")} read a stream's table. */
public final class StreamProvider implements StreamSourceProvider, DataSourceRegister {
  private static final String NAME = "weft-stream";

  @Override
  public String shortName() {
    return NAME;
  }

  @Override
  public Tuple2<String, StructType> sourceSchema(
      SQLContext context, Option<StructType> schema, String provider, Map<String, String> options) {
    return new Tuple2<>(NAME, schemaOf(schema, StreamOptions.of(options)));
  }

  @Override
  public Source createSource(
      SQLContext context,
      String metadataPath,
      Option<StructType> schema,
      String provider,
      Map<String, String> options) {
    StreamOptions chosen = StreamOptions.of(options);
    try {
      return new StreamSource(context.sparkSession(), schemaOf(schema, chosen), chosen);
    } catch (IOException e) {
      throw Sneaky.raise(e);
    }
  }

  private static StructType schemaOf(Option<StructType> schema, StreamOptions options) {
    if (schema.isEmpty()) {
      throw new IllegalArgumentException(
          "A weft-stream is read with the schema that .schema() gives.");
    }
    // Control rows have none of the stream's columns, and old files may lack some.
    StructType columns = schema.get().asNullable();
    return options.buckets() == 0
        ? columns
        : columns.add(RecordHash.CONTROL, DataTypes.StringType, true);
  }
}
