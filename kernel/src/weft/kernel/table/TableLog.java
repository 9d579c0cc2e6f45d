package weft.kernel.table;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import weft.kernel.file.ConditionalFiles;
import weft.kernel.file.LocalPath;
import weft.kernel.json.Json;
import weft.kernel.spark.Sessions;

/**
 * The Delta log of a stream table, in which every knot of the stream is one commit, a rollback is
 * one more, and so is the expiry of old rows.
 *
 * <p>Threads may share an instance; several instances, also in several processes, may be used on
 * one table.
 */
public final class TableLog {
  private final String path;
  private final LogStorage storage;
  private final LogView view;

  TableLog(String path, LogStorage storage) {
    this.path = path;
    this.storage = storage;
    this.view = new LogView(storage);
  }

  /** The log of the table in a folder, which need not be there yet. */
  public static TableLog of(SparkSession spark, String path) throws IOException {
    Configuration conf = Sessions.hadoopConf(spark);
    Path folder = new Path(path, "_delta_log");
    FileSystem files = folder.getFileSystem(conf);
    return new TableLog(path, storageOf(files.makeQualified(folder), files, conf));
  }

  private static LogStorage storageOf(Path folder, FileSystem files, Configuration conf)
      throws IOException {
    if (LocalPath.isLocal(files)) {
      return new LocalLog(LocalPath.of(folder));
    }
    return ConditionalFiles.areOf(files, folder)
        ? new ObjectLog(folder, files)
        : new RemoteLog(folder, files, conf);
  }

  /** Whether a look at the table costs next to nothing. */
  public boolean isLocal() {
    return storage instanceof LocalLog;
  }

  /** Whether the table was created. */
  public synchronized boolean exists() throws IOException {
    return version() != Commit.NONE;
  }

  /**
   * The newest version, -1 when there is no table. Costs one look for the next file when nothing
   * was added.
   */
  public synchronized long version() throws IOException {
    return view.version();
  }

  /** One version of the log. */
  public synchronized Commit read(long version) throws IOException {
    return view.read(version);
  }

  /**
   * The version of the last knot numbered up to {@code knot}, whether cut or not; -1 when there is
   * none.
   */
  public synchronized long floor(long knot) throws IOException {
    view.version();
    return view.floor(knot);
  }

  /** Whether a commit is a knot that was not rolled back. */
  public synchronized boolean isKept(Commit commit) {
    return commit.isKnot() && !view.isCut(commit.knot());
  }

  /** Whether the table has the rows of a knot still, unless it was rolled back. */
  public synchronized boolean isHeld(Commit knot) {
    return knot.knot() > view.expired();
  }

  /** The last knot whose rows are expired, 0 when none are. */
  public synchronized long expired() throws IOException {
    version();
    return view.expired();
  }

  /** The table's schema now, as Spark writes schemas in JSON. */
  public synchronized String schema() throws IOException {
    requireTable();
    return view.metaData().required("schemaString").asText();
  }

  /** Creates the table; one that is there with the same schema is left as it is. */
  public synchronized void create(String schemaJson, String propertiesJson) throws IOException {
    if (!exists()) {
      ObjectNode metaData = Json.object().put("id", UUID.randomUUID().toString());
      metaData.putObject("format").put("provider", "parquet").putObject("options");
      metaData.put("schemaString", schemaJson).putArray("partitionColumns");
      ObjectNode configuration = metaData.putObject("configuration");
      configuration.setAll(Json.parseObject(propertiesJson));
      // Readers go back to the first knot: no tool may clean the log up.
      configuration.put("delta.enableExpiredLogCleanup", "false");
      metaData.put("createdTime", System.currentTimeMillis());
      List<ObjectNode> actions = List.of(Protocol.action(schemaJson), wrap("metaData", metaData));
      if (storage.putIfAbsent(0, text("CREATE TABLE", null, Commit.NONE, 0, actions))) {
        version();
        return;
      }
      version();
    }
    if (!Json.parse(schema()).equals(Json.parse(schemaJson))) {
      throw new CommitConflict(
          "The table at " + path + " exists with another schema: " + schema() + ".");
    }
  }

  /** The newest knot that is not cut, as JSON with its version and files, or null. */
  public synchronized String head() throws IOException {
    return described(view.newestKept(version()));
  }

  /**
   * The newest knot that there ever was, cut or not, as JSON with its version and files, or null.
   */
  public synchronized String last() throws IOException {
    version();
    return described(view.lastKnot());
  }

  /** The knot with a number, as JSON with its version and files; null when it is absent or cut. */
  public synchronized String find(long knot) throws IOException {
    long v = floor(knot);
    if (v == Commit.NONE || read(v).knot() != knot || view.isCut(knot)) {
      return null;
    }
    return described(read(v));
  }

  private String described(Commit knot) {
    return knot == null ? null : asHeld(knot).described().toString();
  }

  /** A knot with the files that the table still has of it. */
  private Commit asHeld(Commit knot) {
    return isHeld(knot) ? knot : knot.withoutFiles();
  }

  /**
   * Adds a knot after version {@code expectedVersion} and returns its version.
   *
   * @param weftJson the knot; its number under {@code knot} is higher than that of every knot
   *     before it
   * @param addsJson its files as the spine reported them
   * @param newSchemaJson the schema from this knot on, or null when it stays
   */
  public synchronized long commit(
      long expectedVersion, String weftJson, String addsJson, String newSchemaJson)
      throws IOException {
    requireTable();
    requireNext(expectedVersion);
    ObjectNode weft = Json.parseObject(weftJson);
    long knot = weft.required("knot").asLong();
    Commit last = view.lastKnot();
    if (last != null && last.knot() >= knot) {
      throw new CommitConflict(
          "Knot " + knot + " cannot follow knot " + last.knot() + " of the table at " + path + ".");
    }
    if (view.isCut(knot)) {
      throw new CommitConflict("Knot " + knot + " of the table at " + path + " was rolled back.");
    }
    long now = System.currentTimeMillis();
    List<ObjectNode> actions = new ArrayList<>();
    long schema = view.schemaVersion();
    if (newSchemaJson != null && !Json.parse(newSchemaJson).equals(Json.parse(schema()))) {
      if (Protocol.needsFeatures(newSchemaJson)) {
        actions.add(Protocol.action(newSchemaJson));
      }
      actions.add(wrap("metaData", view.metaData().deepCopy().put("schemaString", newSchemaJson)));
      schema = expectedVersion + 1;
    }
    for (JsonNode add : Json.parse(addsJson)) {
      actions.add(DataFile.fromJson(add, now).toAdd());
    }
    return append(text("WRITE", weft, view.cutVersion(), schema, actions));
  }

  /**
   * Takes the knots in (keepKnot, headKnot] out of the table and returns the version that did it. A
   * cut that was made already, under the same description, is not made again, however long ago that
   * was.
   */
  public synchronized long cut(long keepKnot, long headKnot, String weftJson) throws IOException {
    requireTable();
    version();
    if (keepKnot >= headKnot) {
      throw new IllegalArgumentException(
          "There is nothing to cut in (" + keepKnot + ", " + headKnot + "].");
    }
    ObjectNode weft = Json.parseObject(weftJson);
    weft.putArray("cut").add(keepKnot).add(headKnot);
    long made = view.findTurn(weft);
    if (made != Commit.NONE) {
      return made;
    }
    long now = System.currentTimeMillis();
    List<ObjectNode> actions = new ArrayList<>();
    for (Commit knot : view.kept(keepKnot, headKnot)) {
      view.files(knot).forEach(file -> actions.add(file.toRemove(now)));
    }
    return append(text("DELETE", weft, view.cutVersion(), view.schemaVersion(), actions));
  }

  /**
   * Brings the knots in (keepKnot, headKnot] that were cut back into the table and returns the
   * version that did it. What is in the table already is not added again, and rows that are expired
   * do not come back.
   */
  public synchronized long restore(long keepKnot, long headKnot, String weftJson)
      throws IOException {
    requireTable();
    version();
    ObjectNode weft = Json.parseObject(weftJson);
    weft.putArray("restore").add(keepKnot).add(headKnot);
    long made = view.findTurn(weft);
    if (made != Commit.NONE) {
      return made;
    }
    List<ObjectNode> actions = new ArrayList<>();
    boolean cut = false;
    for (Commit knot : view.knots(keepKnot, headKnot)) {
      if (view.isCut(knot.knot())) {
        cut = true;
        view.files(knot).forEach(file -> actions.add(file.toAdd()));
      }
    }
    if (!cut) {
      return version();
    }
    return append(text("RESTORE", weft, view.cutVersion(), view.schemaVersion(), actions));
  }

  /**
   * Takes the rows of all knots up to {@code upto} out of the table and returns the version that
   * did it. The knots themselves stay. What is expired already is not expired again.
   */
  public synchronized long expire(long upto, String weftJson) throws IOException {
    requireTable();
    version();
    if (upto <= view.expired()) {
      return version();
    }
    Commit newest = view.newestKept(version());
    if (newest == null || newest.knot() <= upto) {
      throw new IllegalArgumentException(
          "The rows of knots up to "
              + upto
              + " of the table at "
              + path
              + " cannot expire: its newest knot is "
              + (newest == null ? "not there" : newest.knot())
              + ".");
    }
    long now = System.currentTimeMillis();
    List<ObjectNode> actions = new ArrayList<>();
    for (Commit knot : view.kept(view.expired(), upto)) {
      knot.files().forEach(file -> actions.add(file.toRemove(now)));
    }
    ObjectNode weft = Json.parseObject(weftJson).put("expire", upto);
    return append(text("DELETE", weft, view.cutVersion(), view.schemaVersion(), actions));
  }

  /** The files that knots in (afterKnot, toKnot] were written with, as a JSON array of paths. */
  public synchronized String written(long afterKnot, long toKnot) throws IOException {
    version();
    ArrayNode found = Json.array();
    for (Commit knot : view.knots(afterKnot, toKnot)) {
      knot.files().forEach(file -> found.add(file.path()));
    }
    return found.toString();
  }

  /**
   * The knots in (afterKnot, toKnot] that are not cut, with their files, oldest first, as a JSON
   * array.
   */
  public synchronized String knots(long afterKnot, long toKnot) throws IOException {
    version();
    ArrayNode found = Json.array();
    view.kept(afterKnot, toKnot).forEach(knot -> found.add(asHeld(knot).described()));
    return found.toString();
  }

  private void requireTable() throws IOException {
    if (!exists()) {
      throw new IllegalStateException("There is no table at " + path + ".");
    }
  }

  private void requireNext(long expectedVersion) throws IOException {
    if (version() != expectedVersion) {
      throw new CommitConflict(
          "The table at "
              + path
              + " is at version "
              + version()
              + ", not "
              + expectedVersion
              + ".");
    }
  }

  private long append(String text) throws IOException {
    long added = view.append(text);
    if (added == Commit.NONE) {
      throw new CommitConflict("Another writer has added to the table at " + path + ".");
    }
    Wake.added(path);
    return added;
  }

  private static String text(
      String operation, ObjectNode weft, long cut, long schema, List<ObjectNode> actions) {
    ObjectNode note = Json.object();
    // First, so that the sum's place is the first blank of the text: the hash of no rows is all
    // zeros too.
    note.putObject("log").put("cut", cut).put("schema", schema).put("sum", CommitSum.BLANK);
    if (weft != null) {
      note.set("weft", weft);
    }
    ObjectNode info = Json.object().put("timestamp", System.currentTimeMillis());
    info.put("operation", operation).putObject("operationParameters");
    info.put("engineInfo", "weft").put("userMetadata", note.toString());
    StringBuilder lines = new StringBuilder();
    lines.append(wrap("commitInfo", info)).append('\n');
    for (ObjectNode action : actions) {
      lines.append(action).append('\n');
    }
    return CommitSum.fill(lines.toString());
  }

  private static ObjectNode wrap(String name, ObjectNode body) {
    ObjectNode action = Json.object();
    action.set(name, body);
    return action;
  }
}
