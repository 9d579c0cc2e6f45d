package weft.kernel.source;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Records of text files: those that a {@link FileFollower} finds. Options: {@code name}, under
 * which it was opened, and {@code most}, how many records a batch may have; or {@code packs}, the
 * ranges to read once more, as the follower names them.
 */
public final class FileSource implements TableProvider {
  /** The raw form, why a record could not be had whole, and the header of its file. */
  private static final StructType SCHEMA =
      RawRows.SCHEMA.add("bad", DataTypes.StringType).add("header", DataTypes.StringType);

  private static final Map<String, FileFollower> OPEN = new ConcurrentHashMap<>();

  /** Have the query that reads this name ask this follower. */
  public static void open(String name, FileFollower follower) {
    OPEN.put(name, follower);
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return SCHEMA;
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> options) {
    String packs = options.get("packs");
    if (packs != null) {
      return new SourceTable("files", schema, () -> new FileStream(new Known(packs), 0));
    }
    String name = options.get("name");
    long most = Long.parseLong(options.get("most"));
    return new SourceTable(
        "files " + name, schema, () -> new FileStream(OPEN.remove(name), most));
  }

  /** Ranges that were found before. */
  private record Known(String packs) implements FileFollower {
    @Override
    public String ahead(String start, long most) {
      return start;
    }

    @Override
    public String packs(String start, String end) {
      return packs;
    }
  }
}
