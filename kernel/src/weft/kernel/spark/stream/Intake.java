package weft.kernel.spark.stream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import weft.kernel.json.Json;
import weft.kernel.operator.InputBatch;
import weft.kernel.spark.BatchFrame;
import weft.kernel.stream.StreamOptions;
import weft.kernel.table.Wake;

/**
 * What a pipeline reads: its inlets in their order, and the wait for more. Where it is in them, a
 * list of offsets says, null for an inlet of which nothing was read yet.
 */
public final class Intake {
  /** The longest that a pipeline waits before it looks for what other processes have added. */
  private static final long LOOK_MILLIS = 100;

  private final List<Inlet> inlets;
  private final Wake wake;
  private final long firstLook;
  private Thread looking;

  /**
   * @param wakes what ends its wait: tables and ticks
   * @param firstLook after so many milliseconds it looks again, and then ever more rarely
   */
  public Intake(List<Inlet> inlets, List<String> wakes, long firstLook) {
    this.inlets = List.copyOf(inlets);
    this.wake = new Wake(Set.copyOf(wakes));
    this.firstLook = firstLook;
  }

  /** The source of a streaming frame, which keeps in a folder what it has to remember. */
  public static Inlet source(Dataset<Row> frame, String remembers) {
    return SourceInlet.of(frame, remembers);
  }

  /** The stream in a table. */
  public static Inlet table(SparkSession spark, String schema, String asked) throws IOException {
    StructType columns = (StructType) StructType.fromJson(schema);
    return new TableInlet(spark, columns, StreamOptions.of(asked));
  }

  /** Batches without rows, whenever one is asked for under a name. */
  public static Inlet tick(String name) {
    return new TickInlet(name);
  }

  /**
   * Where the next batch ends in each inlet, as a list in JSON.
   *
   * @param from where the last one has ended, as such a list
   * @param restMillis for so long it looks for nothing
   * @param waitMillis for so long it waits then for something new
   * @return null when there was nothing new, or the pipeline is about to be stopped
   */
  public String next(String from, long restMillis, long waitMillis)
      throws IOException, InterruptedException {
    JsonNode at = Json.parse(from);
    long deadline = System.nanoTime() + (restMillis + waitMillis) * 1_000_000;
    wake.rest(restMillis);
    for (long look = firstLook; !wake.isReleased(); look = Math.min(2 * look, longestLook())) {
      long seen = wake.count();
      String to = look(at);
      long left = (deadline - System.nanoTime()) / 1_000_000;
      if (to != null || left <= 0) {
        return to;
      }
      wake.await(seen, Math.min(look, left));
    }
    return null;
  }

  private long longestLook() {
    return Math.max(firstLook, LOOK_MILLIS);
  }

  private String look(JsonNode at) throws IOException {
    begin();
    try {
      boolean isNew = false;
      ArrayNode to = Json.array();
      for (int inlet = 0; inlet < inlets.size(); inlet++) {
        String from = at.get(inlet).textValue();
        String latest = inlets.get(inlet).latest(from);
        isNew |= latest != null && !latest.equals(from);
        to.add(latest);
      }
      return isNew ? to.toString() : null;
    } finally {
      end();
    }
  }

  private synchronized void begin() {
    looking = Thread.currentThread();
  }

  private synchronized void end() {
    looking = null;
    Thread.interrupted(); // it was for the look that is over
  }

  /** What an inlet has between two offsets. */
  public InputBatch batch(int inlet, String from, String to) throws IOException {
    return inlets.get(inlet).batch(from, to);
  }

  /** Has one more batch come, also when nothing is new. */
  public void tick() {
    inlets.forEach(Inlet::tick);
  }

  /** Everything up to here was read for good. */
  public void committed(String at) {
    JsonNode to = Json.parse(at);
    for (int inlet = 0; inlet < inlets.size(); inlet++) {
      inlets.get(inlet).committed(to.get(inlet).textValue());
    }
  }

  /** How far each inlet goes by what it knows, as a list in JSON. */
  public String known() {
    ArrayNode known = Json.array();
    inlets.forEach(inlet -> known.add(inlet.known()));
    return known.toString();
  }

  /** Waits no more, also not for a source that does not answer. */
  public synchronized void release() {
    wake.release();
  }

  /** Ends a look that takes too long. */
  public synchronized void interrupt() {
    wake.release();
    if (looking != null) {
      looking.interrupt();
    }
  }

  /** Lets go of all inlets. */
  public void close() {
    wake.close();
    inlets.forEach(Inlet::stop);
  }

  /** The rows of several batches with the same columns as one frame. */
  public static Dataset<Row> rows(List<InputBatch> batches) {
    List<Dataset<Row>> frames = new ArrayList<>();
    batches.forEach(batch -> frames.add(batch.frame()));
    return BatchFrame.together(frames);
  }
}
