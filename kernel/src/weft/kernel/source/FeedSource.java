package weft.kernel.source;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import weft.kernel.spark.StoredFolder;

/**
 * The source of the test kit: numbered segment files in a folder, each of them exactly one
 * micro-batch. Options: {@code path}, the folder.
 */
public final class FeedSource implements TableProvider {

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return RawRows.SCHEMA;
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> options) {
    StoredFolder folder = StoredFolder.at(options.get("path"));
    return new SourceTable("feed " + folder, schema, () -> new FeedStream(folder));
  }
}
