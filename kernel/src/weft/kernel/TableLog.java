package weft.kernel;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;

/**
 * The Delta log of a stream table, in which every knot of the stream is one commit and a rollback is one more.
 *
 * <p>Each commit of ours points back to the newest cut and the newest schema before it, so that opening a table reads a
 * handful of files however long its log is, and nothing is kept in memory per knot. Threads may share an instance;
 * several instances, also in several processes, may be used on one table.
 */
public final class TableLog {
  private static final int RECENT = 256;

  private final String path;
  private final LogStorage storage;
  private final Cuts cuts = new Cuts();
  private final Map<Long, Commit> recent =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Commit> eldest) {
          return size() > RECENT;
        }
      };
  private long version = Commit.NONE;
  private long cutVersion = Commit.NONE;
  private long schemaVersion = Commit.NONE;

  private TableLog(String path, LogStorage storage) {
    this.path = path;
    this.storage = storage;
  }

  /** The log of the table in a folder, which need not be there yet. */
  public static TableLog of(SparkSession spark, String path) throws IOException {
    Configuration conf =
        ((org.apache.spark.sql.classic.SparkSession) spark).sessionState().newHadoopConf();
    Path folder = new Path(path, "_delta_log");
    FileSystem files = folder.getFileSystem(conf);
    LogStorage storage =
        LocalCheckpoints.isLocal(files)
            ? new LocalLog(LocalCheckpoints.local(files.makeQualified(folder)))
            : new RemoteLog(files.makeQualified(folder), files, conf);
    return new TableLog(path, storage);
  }

  /** Whether the table was created. */
  public synchronized boolean exists() throws IOException {
    return version() != Commit.NONE;
  }

  /** The newest version, -1 when there is no table. Costs one look for the next file when nothing was added. */
  public synchronized long version() throws IOException {
    long newest = findNewest();
    if (newest != version) {
      follow(newest);
    }
    return version;
  }

  /** Versions have no gaps, so the newest is found by steps of growing width and then by halving. */
  private long findNewest() throws IOException {
    long there = version;
    long step = 1;
    while (storage.exists(there + step)) {
      there += step;
      step *= 2;
    }
    for (step /= 2; step >= 1; step /= 2) {
      if (storage.exists(there + step)) {
        there += step;
      }
    }
    return there;
  }

  /** Takes in what was added up to a version: the cuts and the schema, through the pointers in its commit. */
  private void follow(long newest) throws IOException {
    long cut = Commit.NONE;
    long schema = Commit.NONE;
    for (long v = newest; v >= 0; v--) {
      Commit commit = read(v);
      if (schema == Commit.NONE && commit.metaData() != null) {
        schema = v;
      }
      if (commit.isOurs()) {
        cut = commit.isTurn() ? v : commit.cutVersion();
        schema = schema == Commit.NONE ? commit.schemaVersion() : schema;
        break;
      }
    }
    Deque<Commit> turns = new ArrayDeque<>();
    for (long v = cut; v != Commit.NONE && v > cutVersion; v = read(v).cutVersion()) {
      turns.push(read(v));
    }
    for (Commit turn : turns) {
      if (turn.isCut()) {
        cuts.add(turn.keep(), turn.head());
      } else {
        cuts.remove(turn.keep(), turn.head());
      }
    }
    cutVersion = cut;
    schemaVersion = schema;
    version = newest;
  }

  /** One version of the log; the ones used last are kept. */
  synchronized Commit read(long wanted) throws IOException {
    Commit known = recent.get(wanted);
    if (known == null) {
      known = Commit.parse(wanted, storage.read(wanted));
      recent.put(wanted, known);
    }
    return known;
  }

  /** The table's schema now, as Spark writes schemas in JSON. */
  public synchronized String schema() throws IOException {
    requireTable();
    return metaData().required("schemaString").asText();
  }

  private ObjectNode metaData() throws IOException {
    return read(schemaVersion).metaData();
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
          List.of(Protocol.action(schemaJson), wrap("metaData", metaData));
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

  /** The newest knot that is not cut, as JSON with its version, or null. */
  public synchronized String head() throws IOException {
    version();
    Commit newest = newestKept(version);
    return newest == null ? null : newest.described().toString();
  }

  private Commit newestKept(long from) throws IOException {
    long v = from;
    while (v >= 0) {
      Commit commit = read(v);
      if (!commit.isKnot()) {
        v = commit.isCut() ? floor(cuts.lastKept(commit.head()), v - 1) : v - 1;
      } else if (cuts.contains(commit.knot())) {
        v = floor(cuts.lastKept(commit.knot()), v - 1);
      } else {
        return commit;
      }
    }
    return null;
  }

  /** The knot with a number, as JSON with its version; null when it is absent or cut. */
  public synchronized String find(long knot) throws IOException {
    version();
    long v = floor(knot, version);
    if (v == Commit.NONE || read(v).knot() != knot || cuts.contains(knot)) {
      return null;
    }
    return read(v).described().toString();
  }

  /** The version of the last knot numbered up to {@code knot}, whether cut or not; -1 when there is none. */
  synchronized long floor(long knot) throws IOException {
    version();
    return floor(knot, version);
  }

  /** Knot numbers rise with versions, mostly by one each: guesses by distance, then halves what is left. */
  private long floor(long knot, long top) throws IOException {
    long found = Commit.NONE;
    long low = 0;
    long high = top;
    boolean guess = true;
    while (low <= high) {
      long middle = (low + high) >>> 1;
      if (guess) {
        long last = lastKnotVersion(high, low);
        if (last == Commit.NONE) {
          break;
        }
        long distance = read(last).knot() - knot;
        middle = Math.max(low, Math.min(last, last - distance));
        guess = false;
      }
      long v = lastKnotVersion(middle, low);
      if (v != Commit.NONE && read(v).knot() == knot) {
        return v;
      }
      if (v == Commit.NONE) {
        low = middle + 1;
      } else if (read(v).knot() < knot) {
        found = v;
        low = middle + 1;
      } else {
        high = v - 1;
      }
    }
    return found;
  }

  private long lastKnotVersion(long from, long low) throws IOException {
    long v = from;
    while (v >= low && !read(v).isKnot()) {
      v--;
    }
    return v >= low ? v : Commit.NONE;
  }

  /**
   * Adds a knot after version {@code expectedVersion} and returns its version.
   *
   * @param weftJson the knot; its number under {@code knot} is higher than that of every knot before it
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
    long last = lastKnotVersion(version, 0);
    if (last != Commit.NONE && read(last).knot() >= knot) {
      throw new CommitConflict(
          "Knot " + knot + " cannot follow knot " + read(last).knot() + " of the table at " + path + ".");
    }
    if (cuts.contains(knot)) {
      throw new CommitConflict("Knot " + knot + " of the table at " + path + " was rolled back.");
    }
    long now = System.currentTimeMillis();
    List<ObjectNode> actions = new ArrayList<>();
    long schema = schemaVersion;
    if (newSchemaJson != null && !Json.parse(newSchemaJson).equals(Json.parse(schema()))) {
      if (Protocol.needsFeatures(newSchemaJson)) {
        actions.add(Protocol.action(newSchemaJson));
      }
      actions.add(wrap("metaData", metaData().deepCopy().put("schemaString", newSchemaJson)));
      schema = version + 1;
    }
    for (JsonNode add : Json.parse(addsJson)) {
      actions.add(DataFile.fromJson(add, now).toAdd());
    }
    return append(text("WRITE", weft, cutVersion, schema, actions));
  }

  /**
   * Takes the knots in (keepKnot, headKnot] out of the table and returns the version that did it. A cut that was made
   * already is not made again.
   */
  public synchronized long cut(long keepKnot, long headKnot, String weftJson) throws IOException {
    requireTable();
    version();
    if (keepKnot >= headKnot) {
      throw new IllegalArgumentException("There is nothing to cut in (" + keepKnot + ", " + headKnot + "].");
    }
    long made = findCut(keepKnot, headKnot);
    if (made != Commit.NONE) {
      return made;
    }
    long now = System.currentTimeMillis();
    List<ObjectNode> actions = new ArrayList<>();
    for (Commit knot : kept(keepKnot, headKnot)) {
      knot.files().forEach(file -> actions.add(file.toRemove(now)));
    }
    ObjectNode weft = Json.parseObject(weftJson);
    weft.putArray("cut").add(keepKnot).add(headKnot);
    return append(text("DELETE", weft, cutVersion, schemaVersion, actions));
  }

  /** The version of the newest turn if it is this cut, else -1. */
  private long findCut(long keepKnot, long headKnot) throws IOException {
    if (cutVersion == Commit.NONE) {
      return Commit.NONE;
    }
    Commit turn = read(cutVersion);
    boolean same = turn.isCut() && turn.keep() == keepKnot && turn.head() == headKnot;
    return same ? cutVersion : Commit.NONE;
  }

  /**
   * Brings the knots in (keepKnot, headKnot] that were cut back into the table and returns the version that did it. What is
   * in the table already is not added again.
   */
  public synchronized long restore(long keepKnot, long headKnot, String weftJson) throws IOException {
    requireTable();
    version();
    List<ObjectNode> actions = new ArrayList<>();
    boolean cut = false;
    long last = floor(headKnot, version);
    for (long v = Math.max(floor(keepKnot, version) + 1, 0); v <= last; v++) {
      Commit commit = read(v);
      if (commit.isKnot() && cuts.contains(commit.knot())) {
        cut = true;
        commit.files().forEach(file -> actions.add(file.toAdd()));
      }
    }
    if (!cut) {
      return version;
    }
    ObjectNode weft = Json.parseObject(weftJson);
    weft.putArray("restore").add(keepKnot).add(headKnot);
    return append(text("RESTORE", weft, cutVersion, schemaVersion, actions));
  }

  /** The knots in (afterKnot, toKnot] that are not cut, with their files, oldest first, as a JSON array. */
  public synchronized String knots(long afterKnot, long toKnot) throws IOException {
    version();
    ArrayNode found = Json.array();
    for (Commit knot : kept(afterKnot, toKnot)) {
      ObjectNode entry = found.addObject().put("version", knot.version());
      entry.set("weft", knot.described());
      ArrayNode files = entry.putArray("files");
      knot.files().forEach(file -> files.add(file.toJson()));
    }
    return found.toString();
  }

  private List<Commit> kept(long afterKnot, long toKnot) throws IOException {
    List<Commit> found = new ArrayList<>();
    long last = floor(toKnot, version);
    for (long v = Math.max(floor(afterKnot, version) + 1, 0); v <= last; v++) {
      Commit commit = read(v);
      if (isKept(commit)) {
        found.add(commit);
      }
    }
    return found;
  }

  /** Whether a commit is a knot that was not rolled back. */
  synchronized boolean isKept(Commit commit) {
    return commit.isKnot() && !cuts.contains(commit.knot());
  }

  private void requireTable() throws IOException {
    if (!exists()) {
      throw new IllegalStateException("There is no table at " + path + ".");
    }
  }

  private void requireNext(long expectedVersion) throws IOException {
    if (version() != expectedVersion) {
      throw new CommitConflict(
          "The table at " + path + " is at version " + version + ", not " + expectedVersion + ".");
    }
  }

  private long append(String text) throws IOException {
    long next = version + 1;
    if (!storage.putIfAbsent(next, text)) {
      throw new CommitConflict("Version " + next + " of the table at " + path + " is taken.");
    }
    recent.put(next, Commit.parse(next, text));
    follow(next);
    return next;
  }

  private static String text(
      String operation, ObjectNode weft, long cut, long schema, List<ObjectNode> actions) {
    ObjectNode note = Json.object();
    // First, so that the sum's place is the first blank of the text: the hash of no rows is all zeros too.
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
