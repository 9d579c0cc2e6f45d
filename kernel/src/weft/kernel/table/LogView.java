package weft.kernel.table;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import weft.kernel.json.Json;

/**
 * What a stream table's log says: its newest version, its knots by number, what was cut, whose rows
 * are expired or share a file, its schema.
 *
 * <p>Each commit of ours points back to the newest turn and the newest schema before it, so that
 * opening a table reads a handful of files however long its log is, and nothing is kept in memory
 * per knot. {@link TableLog} guards it from threads.
 */
final class LogView {
  private static final int RECENT = 256;

  private final LogStorage storage;
  private final Cuts cuts = new Cuts();
  private final Compactions compactions = new Compactions();
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
  private long expired;
  private LogFloor floor = LogFloor.NONE;

  LogView(LogStorage storage) {
    this.storage = storage;
  }

  /**
   * The newest version, -1 when there is no table. Costs one look for the next file when nothing
   * was added.
   */
  long version() throws IOException {
    if (version == Commit.NONE) {
      raise();
    }
    long newest = findNewest();
    if (newest != version) {
      follow(newest);
    }
    return version;
  }

  /** Takes in where the log begins. */
  private void raise() throws IOException {
    String text = storage.floor();
    if (text == null) {
      return;
    }
    floor = LogFloor.parse(text);
    if (version < floor.version()) {
      version = floor.version();
      cutVersion = floor.version();
      schemaVersion = floor.version();
      expired = floor.expired();
    }
  }

  /** The first version that there is, or was when this view last missed one. */
  long first() {
    return floor.version() + 1;
  }

  /** What is read here and there in the log. */
  private interface Look<T> {
    T take() throws IOException;
  }

  /** Looks again when a version is gone: somebody has let go of more of the log meanwhile. */
  private <T> T look(Look<T> look) throws IOException {
    try {
      return look.take();
    } catch (FileNotFoundException | NoSuchFileException e) {
      raise();
      return look.take();
    }
  }

  /**
   * Versions have no gaps, so the newest is found by steps of growing width and then by halving.
   */
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

  /**
   * Takes in what was added up to a version: the turns and the schema, through the pointers in its
   * commit.
   */
  private void follow(long newest) throws IOException {
    long cut = cutVersion;
    long schema = Commit.NONE;
    for (long v = newest; v > floor.version(); v--) {
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
    for (long v = cut; v > floor.version() && v > cutVersion; v = read(v).cutVersion()) {
      turns.push(read(v));
    }
    for (Commit turn : turns) {
      if (turn.isExpiry()) {
        expired = Math.max(expired, turn.expires());
      } else if (turn.isCompaction()) {
        compactions.add(turn);
      } else if (turn.isCut()) {
        cuts.add(turn.keep(), turn.head());
      } else {
        cuts.remove(turn.keep(), turn.head());
      }
    }
    cutVersion = cut;
    schemaVersion = schema == Commit.NONE ? schemaVersion : schema;
    version = newest;
  }

  /** One version of the log; the ones used last are kept. */
  Commit read(long wanted) throws IOException {
    Commit known = recent.get(wanted);
    if (known == null) {
      known = Commit.parse(wanted, storage.read(wanted));
      recent.put(wanted, known);
    }
    return known;
  }

  /** The version that set the schema, which is in force until another one does. */
  long schemaVersion() {
    return schemaVersion;
  }

  /** The version of the newest turn, -1 when there is none. */
  long cutVersion() {
    return cutVersion;
  }

  ObjectNode metaData() throws IOException {
    return schemaVersion <= floor.version() ? floor.metaData() : read(schemaVersion).metaData();
  }

  /**
   * Adds a version after the newest one known and returns it, or -1 when another writer has taken
   * its place.
   */
  long append(String text) throws IOException {
    long next = version + 1;
    if (!storage.putIfAbsent(next, text)) {
      return Commit.NONE;
    }
    recent.put(next, Commit.parse(next, text));
    follow(next);
    return next;
  }

  /** The newest knot that is not cut, up to a version, or null. */
  Commit newestKept(long from) throws IOException {
    return look(() -> findNewestKept(from));
  }

  private Commit findNewestKept(long from) throws IOException {
    long v = from;
    while (v >= first()) {
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

  /**
   * The version of the last knot numbered up to {@code knot}, whether cut or not; -1 when there is
   * none.
   */
  long floor(long knot) throws IOException {
    return look(() -> floor(knot, version));
  }

  /**
   * Knot numbers rise with versions, mostly by one each: guesses by distance, then halves what is
   * left.
   */
  private long floor(long knot, long top) throws IOException {
    long found = Commit.NONE;
    long low = first();
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

  /** The newest knot that there ever was, whether cut or not, or null. */
  Commit lastKnot() throws IOException {
    long last = look(() -> lastKnotVersion(version, first()));
    return last == Commit.NONE ? null : read(last);
  }

  private long lastKnotVersion(long from, long low) throws IOException {
    long v = from;
    while (v >= low && !read(v).isKnot()) {
      v--;
    }
    return v >= low ? v : Commit.NONE;
  }

  /** The version of the turn with this description, -1 when there was none. */
  long findTurn(ObjectNode weft) throws IOException {
    JsonNode wanted =
        Json.parse(weft.toString()); // as it is read, small numbers are of another class
    return look(() -> turnOf(wanted));
  }

  private long turnOf(JsonNode wanted) throws IOException {
    for (long v = cutVersion; v >= first(); v = read(v).cutVersion()) {
      if (read(v).weft().equals(wanted)) {
        return v;
      }
    }
    return Commit.NONE;
  }

  /** The knots in (afterKnot, toKnot], also those that were cut, oldest first. */
  List<Commit> knots(long afterKnot, long toKnot) throws IOException {
    return look(() -> findKnots(afterKnot, toKnot));
  }

  private List<Commit> findKnots(long afterKnot, long toKnot) throws IOException {
    List<Commit> found = new ArrayList<>();
    long last = floor(toKnot, version);
    for (long v = Math.max(floor(afterKnot, version) + 1, first()); v <= last; v++) {
      Commit commit = read(v);
      if (commit.isKnot()) {
        found.add(commit);
      }
    }
    return found;
  }

  /** The knots in (afterKnot, toKnot] that are not cut, oldest first. */
  List<Commit> kept(long afterKnot, long toKnot) throws IOException {
    List<Commit> found = knots(afterKnot, toKnot);
    found.removeIf(knot -> isCut(knot.knot()));
    return found;
  }

  /** Whether a knot was rolled back. */
  boolean isCut(long knot) {
    return cuts.contains(knot);
  }

  /** What was cut, as pairs of the knot that was kept and the last one cut. */
  ArrayNode cuts() {
    ArrayNode pairs = Json.array();
    cuts.ranges().forEach((keep, head) -> pairs.addArray().add(keep).add(head));
    return pairs;
  }

  /** The last knot whose rows are expired, 0 when none are. */
  long expired() {
    return expired;
  }

  /** Which knots share a file. */
  Compactions compactions() {
    return compactions;
  }

  /**
   * The files that have the rows of a knot, one that it shares among them; none once its rows are
   * expired.
   */
  List<DataFile> files(Commit knot) {
    if (knot.knot() <= expired) {
      return List.of();
    }
    Compacted shared = compactions.find(knot.knot());
    return shared == null ? knot.files() : List.of(shared.file());
  }
}
