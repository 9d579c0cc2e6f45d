package weft.kernel.spark.stream;

import java.io.IOException;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.sources.StreamSourceProvider;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Map;
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
    return new Tuple2<>(NAME, StreamSource.MARK);
  }

  @Override
  public Source createSource(
      SQLContext context,
      String metadataPath,
      Option<StructType> schema,
      String provider,
      Map<String, String> options) {
    StreamOptions asked = StreamOptions.of(options);
    try {
      return new StreamSource(context.sparkSession(), schemaOf(schema), asked);
    } catch (IOException | RuntimeException e) {
      // Spark stops the sources of a query that has all of them, and leaves those of another.
      OpenStreams.stop(asked.query());
      throw Sneaky.raise(e);
    }
  }

  private static StructType schemaOf(Option<StructType> schema) {
    if (schema.isEmpty()) {
      throw new IllegalArgumentException(
          "A weft-stream is read with the schema that .schema() gives.");
    }
    // Old files may lack some of its columns.
    return schema.get().asNullable();
  }
}
