package weft.kernel.source;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import weft.kernel.Wake;

/**
 * A streaming source that never has rows and moves its offset only when asked, so that a query united with it runs a
 * batch without data. Options: {@code name}, the name to tick; the schema is given by the reader.
 */
public final class TickSource implements TableProvider {
  private static final Map<String, AtomicBoolean> ASKED = new ConcurrentHashMap<>();

  /** Ask the query that reads the tick of this name to run one batch, now or when it starts. */
  public static void tick(String name) {
    asked(name).set(true);
    Wake.added(name);
  }

  private static AtomicBoolean asked(String name) {
    return ASKED.computeIfAbsent(name, any -> new AtomicBoolean());
  }

  @Override
  public boolean supportsExternalMetadata() {
    return true;
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return RawRows.SCHEMA;
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> options) {
    String name = options.get("name");
    if (name == null) {
      throw new IllegalArgumentException("The tick source needs the option 'name'.");
    }
    return new SourceTable("tick " + name, schema, () -> new TickStream(asked(name)));
  }
}
