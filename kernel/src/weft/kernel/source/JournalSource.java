package weft.kernel.source;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import weft.kernel.spark.StoredFolder;

/**
 * A source whose batches are segments that a {@link Journal} writes when they are asked for. Python
 * reads the source in the driver, and tasks read files. Options: {@code name}, under which the
 * journal was opened; {@code path}, the folder of its segments.
 */
public final class JournalSource implements TableProvider {
  private static final Map<String, Journal> OPEN = new ConcurrentHashMap<>();

  /** Have the query that reads this name ask this journal. */
  public static void open(String name, Journal journal) {
    OPEN.put(name, journal);
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return RawRows.SCHEMA;
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> options) {
    String name = options.get("name");
    StoredFolder folder = StoredFolder.at(options.get("path"));
    return new SourceTable(
        "journal " + folder, schema, () -> new JournalStream(folder, OPEN.remove(name)));
  }
}
