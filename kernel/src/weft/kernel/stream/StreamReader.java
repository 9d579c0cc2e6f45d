package weft.kernel.stream;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import weft.kernel.table.Commit;
import weft.kernel.table.Compacted;
import weft.kernel.table.TableLog;
import weft.kernel.table.Wake;

/**
 * Which knots of a stream its reader is given: some whole ones in order, without those that were
 * rolled back. Used by one query.
 */
public final class StreamReader {
  private static final Set<String> TICKED = ConcurrentHashMap.newKeySet();

  private final TableLog log;
  private final StreamOptions options;
  private boolean checked;
  private StreamOffset idleFrom;
  private long idleVersion;

  public StreamReader(TableLog log, StreamOptions options) {
    this.log = log;
    this.options = options;
  }

  /** Makes the reader with this name run one more batch, also when there is nothing new. */
  public static void tick(String name) {
    TICKED.add(name);
    Wake.added(name);
  }

  /** Where a reader begins that was given nothing yet. */
  public StreamOffset beginning() throws IOException {
    return new StreamOffset(options.startKnot(), log.floor(options.startKnot()), 0);
  }

  /** Whether a batch from here on has, of all that there is, the newest changes only. */
  public boolean startsWithNewest(StreamOffset from) {
    return options.newest() != null && from.knot() <= options.startKnot();
  }

  /** How far the next batch goes; where it is, when nothing is new. */
  public StreamOffset next(StreamOffset from) throws IOException {
    long newest = log.version();
    check(from);
    if (options.script() != null) {
      return again(from, options.script());
    }
    boolean ticked = TICKED.remove(options.name());
    if (!ticked && from.equals(idleFrom) && newest == idleVersion) {
      return from;
    }
    boolean isLimited = options.maxRows() > 0 && !startsWithNewest(from);
    StreamOffset to = admit(from, newest, isLimited ? options.maxRows() : Long.MAX_VALUE);
    if (ticked) {
      return to.ticked();
    }
    if (to.equals(from)) {
      idleFrom = from;
      idleVersion = newest;
    }
    return to;
  }

  /** The end of the batch that once started here. */
  private StreamOffset again(StreamOffset from, StreamScript script) throws IOException {
    if (!script.hasAfter(from)) {
      return from;
    }
    long version = log.floor(script.endAfter(from));
    if (version <= from.version()) {
      return from.ticked();
    }
    return new StreamOffset(log.read(version).knot(), version, from.tick() + 1);
  }

  /**
   * Whole knots while they and their rows are within the limits, and one knot whatever its rows.
   */
  private StreamOffset admit(StreamOffset from, long newest, long mostRows) throws IOException {
    long mostKnots = options.maxKnots() > 0 ? options.maxKnots() : Long.MAX_VALUE;
    long rows = 0;
    long knots = 0;
    StreamOffset to = from;
    for (long v = Math.max(from.version() + 1, log.first()); v <= newest; v++) {
      Commit commit = log.read(v);
      if (!isWanted(commit, from)) {
        continue;
      }
      requireRows(commit);
      rows += commit.rows();
      knots++;
      if (to != from && (rows > mostRows || knots > mostKnots)) {
        break;
      }
      to = new StreamOffset(commit.knot(), v, from.tick());
    }
    return to;
  }

  private boolean isWanted(Commit commit, StreamOffset from) {
    return log.isKept(commit) && commit.knot() > from.knot();
  }

  /** Refuses to go on from an offset that was taken in another table of the same name. */
  private void check(StreamOffset from) throws IOException {
    if (checked || from.version() == Commit.NONE) {
      return;
    }
    boolean there = from.version() <= log.version() && from.version() >= log.first();
    Commit commit = there ? log.read(from.version()) : null;
    boolean same = there && commit.isKnot() && commit.knot() == from.knot();
    if (!same && !(there && from.knot() == options.startKnot())) {
      throw new IllegalStateException(
          "The stream at "
              + options.path()
              + " does not have knot "
              + from.knot()
              + " at version "
              + from.version()
              + ", where this reader stopped: its table was made anew or restored. Remove the"
              + " reader's checkpoint to read it from the start.");
    }
    checked = true;
  }

  /** The knots of a batch. */
  public List<Commit> knots(StreamOffset from, StreamOffset to) throws IOException {
    log.version();
    check(to);
    List<Commit> knots = new ArrayList<>();
    for (long v = Math.max(from.version() + 1, log.first()); v <= to.version(); v++) {
      Commit commit = log.read(v);
      if (isWanted(commit, from)) {
        requireRows(commit);
        knots.add(commit);
      }
    }
    return knots;
  }

  /** The files of the knots of a batch, with the knots that share each. */
  public List<Compacted> files(List<Commit> knots) {
    return log.files(knots);
  }

  /** Refuses a knot whose rows are gone: its reader would take it for one that has none. */
  private void requireRows(Commit commit) throws IOException {
    if (commit.rows() > 0 && !log.isHeld(commit)) {
      throw new IllegalStateException(
          "The rows of knot "
              + commit.knot()
              + " of the stream at "
              + options.path()
              + " are expired, and this reader would begin there: they are kept from knot "
              + (log.expired() + 1)
              + " on.");
    }
  }
}
