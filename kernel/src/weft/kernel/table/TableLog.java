package weft.kernel.table;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
 * one more, and so are the expiry of old rows and their compaction into larger files.
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

  /** The first version that the log has: those before it may be gone with their knots. */
  public synchronized long first() throws IOException {
    version();
    return view.first();
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

  /** The ranges (keep, head] of knots that were cut, as a JSON array of pairs. */
  public synchronized String cuts() throws IOException {
    version();
    return view.cuts().toString();
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
      List<ObjectNode> actions =
          List.of(Protocol.action(schemaJson), CommitText.wrap("metaData", metaData));
      if (storage.putIfAbsent(0, CommitText.of("CREATE TABLE", null, Commit.NONE, 0, actions))) {
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
    return knot == null ? null : asHeld(knot).toString();
  }

  /** A knot with the files that the table still has of it, and which knots it shares one with. */
  private ObjectNode asHeld(Commit knot) {
    ObjectNode entry = knot.described(view.files(knot));
    Compacted shared = isHeld(knot) ? view.compactions().find(knot.knot()) : null;
    if (shared != null) {
      entry.putArray("shared").add(shared.after()).add(shared.upto());
    }
    return entry;
  }

  /**
   * The files of some knots, each once, with the knots that share it; those of a knot alone are
   * shared by none. All of them as of one version.
   */
  public synchronized List<Compacted> files(List<Commit> knots) {
    Map<String, Compacted> found = new LinkedHashMap<>();
    for (Commit knot : knots) {
      Compacted shared = view.compactions().find(knot.knot());
      for (DataFile file : view.files(knot)) {
        found.put(
            file.path(),
            shared != null ? shared : new Compacted(knot.knot() - 1, knot.knot(), file));
      }
    }
    return List.copyOf(found.values());
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
      ObjectNode changed = view.metaData().deepCopy().put("schemaString", newSchemaJson);
      actions.add(CommitText.wrap("metaData", changed));
      schema = expectedVersion + 1;
    }
    for (JsonNode add : Json.parse(addsJson)) {
      actions.add(DataFile.fromJson(add, now).toAdd());
    }
    return append(CommitText.of("WRITE", weft, view.cutVersion(), schema, actions));
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
    requireWhole(keepKnot);
    requireWhole(headKnot);
    long now = System.currentTimeMillis();
    List<ObjectNode> actions = new ArrayList<>();
    files(view.kept(keepKnot, headKnot)).forEach(one -> actions.add(one.file().toRemove(now)));
    return turn("DELETE", weft, actions);
  }

  /** Refuses a knot that shares its file with later ones: the file is to be divided there first. */
  private void requireWhole(long knot) {
    Compacted shared = view.compactions().find(knot);
    if (shared != null && shared.straddles(knot)) {
      throw new CommitConflict(
          "Knot " + knot + " of the table at " + path + " shares a file with later ones.");
    }
  }

  /** The files that knots share, oldest first, as a JSON array; each says whether they were cut. */
  public synchronized String compacted() throws IOException {
    version();
    ArrayNode found = Json.array();
    for (Compacted one : view.compactions().after(view.expired())) {
      found.add(one.toJson().put("cut", view.isCut(one.upto())));
    }
    return found.toString();
  }

  /** The file that has rows of a knot and of later ones, as JSON with its knots, or null. */
  public synchronized String straddling(long knot) throws IOException {
    version();
    Compacted shared = view.compactions().find(knot);
    return shared == null || !shared.straddles(knot) ? null : shared.toJson().toString();
  }

  /**
   * Puts files in the place of those that knots have now, and returns the version that did it.
   *
   * @param filesJson the files that were made, with the knots of each: {@code after}, {@code upto}
   * @param replacesJson the paths that they were made of, which must be those of the table still
   */
  public synchronized long compact(String filesJson, String replacesJson, String weftJson)
      throws IOException {
    requireTable();
    version();
    long now = System.currentTimeMillis();
    List<String> replaces = new ArrayList<>();
    Json.parse(replacesJson).forEach(one -> replaces.add(one.asText()));
    Compaction compaction = new Compaction(view, filesJson, replaces, now);
    List<ObjectNode> actions = compaction.actions(now);
    ObjectNode weft = compaction.note(weftJson, now);
    return turn("OPTIMIZE", weft, actions);
  }

  /**
   * The files that compactions after a version have replaced, if made before a moment, as JSON with
   * the newest of these versions.
   */
  public synchronized String replaced(long afterVersion, long beforeMillis) throws IOException {
    version();
    return Compaction.replaced(view, storage, afterVersion, beforeMillis);
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
    requireWhole(keepKnot);
    requireWhole(headKnot);
    List<Commit> back = view.knots(keepKnot, headKnot);
    back.removeIf(knot -> !view.isCut(knot.knot()));
    if (back.isEmpty()) {
      return version();
    }
    List<ObjectNode> actions = new ArrayList<>();
    files(back).forEach(one -> actions.add(one.file().toAdd()));
    return turn("RESTORE", weft, actions);
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
    requireWhole(upto);
    long now = System.currentTimeMillis();
    List<ObjectNode> actions = new ArrayList<>();
    files(view.kept(view.expired(), upto)).forEach(one -> actions.add(one.file().toRemove(now)));
    ObjectNode weft = Json.parseObject(weftJson).put("expire", upto);
    return turn("DELETE", weft, actions);
  }

  /**
   * The files that knots in (afterKnot, toKnot] were written with, and those that they alone share,
   * as a JSON array of paths.
   */
  public synchronized String written(long afterKnot, long toKnot) throws IOException {
    version();
    ArrayNode found = Json.array();
    for (Commit knot : view.knots(afterKnot, toKnot)) {
      knot.files().forEach(file -> found.add(file.path()));
    }
    for (Compacted shared : view.compactions().overlapping(afterKnot, toKnot)) {
      if (shared.upto() <= toKnot) {
        found.add(shared.file().path());
      }
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
    view.kept(afterKnot, toKnot).forEach(knot -> found.add(asHeld(knot)));
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

  private long turn(String operation, ObjectNode weft, List<ObjectNode> actions)
      throws IOException {
    return append(
        CommitText.of(operation, weft, view.cutVersion(), view.schemaVersion(), actions));
  }

  private long append(String text) throws IOException {
    long added = view.append(text);
    if (added == Commit.NONE) {
      throw new CommitConflict("Another writer has added to the table at " + path + ".");
    }
    Wake.added(path);
    return added;
  }
}
