package weft.kernel.change;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import weft.kernel.bytes.Blob;
import weft.kernel.bytes.Lent;
import weft.kernel.json.Json;
import weft.kernel.window.bucket.BucketMessage;
import weft.kernel.window.bucket.Buckets;
import weft.kernel.window.bucket.Engine;
import weft.kernel.window.state.BucketStore;

/**
 * Some steps of a plan in one bucket. The steps are the rows of the tables, then the levels of its
 * stations from the highest to 0; each sends letters to those after it.
 *
 * <p>A plan with one bucket runs all of them in one engine, and nothing leaves it but results.
 * With several, each step is an engine of its own, and letters travel between as parcels.
 */
final class ChangeEngine implements Engine {
  private static final long serialVersionUID = 1;

  /** In a control text: how many changes of a table were not brought, since newer ones were. */
  static final String PASSED = "passed";

  private final Lent<Plan> handle;
  private final int depth;
  private final int buckets;
  private final int from;
  private final int to;
  private final Boundaries boundaries;
  private final int most;

  /**
   * Runs the steps from one up to another, which is not run any more.
   *
   * @param boundaries what tells where transactions end, if changes wait for that; or null
   * @param most how many changes are in memory at once, where all steps are here and can do with it
   */
  ChangeEngine(
      Lent<Plan> handle,
      int depth,
      int buckets,
      int from,
      int to,
      Boundaries boundaries,
      int most) {
    this.handle = handle;
    this.depth = depth;
    this.buckets = buckets;
    this.from = from;
    this.to = to;
    this.boundaries = boundaries;
    this.most = most;
  }

  /** How many steps a plan of some depth has. */
  static int steps(int depth) {
    return depth + 2;
  }

  private int step(int level) {
    return depth - level + 1;
  }

  private boolean isLast() {
    return to == steps(depth);
  }

  @Override
  public Iterator<Row> run(int group, Iterator<Row> messages, BucketStore store) {
    Plan plan = handle.borrow();
    List<Row> out = new ArrayList<>();
    Post post = new Post(plan, buckets);
    Outlet outlet = new Outlet(plan);
    TableStep tables = from == 0 ? new TableStep(plan, store, post) : null;
    WholeTransactions held =
        boundaries == null ? null : new WholeTransactions(boundaries, plan, store, tables);
    StationStep stations = new StationStep(plan, new Desk(store, post, outlet));
    boolean takesAhead = from == 0 && isLast() && boundaries == null && plan.takesAhead();
    long[] counts = new long[2];
    String batch = "";
    while (messages.hasNext()) {
      Row message = messages.next();
      byte[] payload = message.getAs(BucketMessage.PAYLOAD);
      int kind = message.getInt(BucketMessage.KIND);
      switch (kind) {
        case BucketMessage.CONTROL -> {
          JsonNode told = Json.parse(new String(payload, StandardCharsets.UTF_8));
          batch = first(batch, told);
          counts[0] += from == 0 ? told.path(PASSED).asLong() : 0;
          forward(out, group, message, payload);
        }
        case BucketMessage.SEGMENT -> {
          counts[0] += read(payload, tables, held);
          if (takesAhead && tables.taken() >= most) {
            tables.run();
            settle(stations, post);
            stations.takeAhead(post.empty(0));
          }
        }
        case BucketMessage.DEAD -> {
          counts[1] += from == 0 ? 1 : 0;
          forward(out, group, message, payload);
        }
        case BucketMessage.PARCEL -> {
          int level = (int) message.getLong(BucketMessage.TIME);
          if (step(level) < to) {
            post.open(level, payload);
          } else {
            forward(out, group, message, payload);
          }
        }
        default -> forward(out, group, message, payload);
      }
    }
    outlet.name(batch);
    if (from == 0) {
      String waits = held == null ? "" : held.release();
      tables.run();
      add(out, group, BucketMessage.REPORT, report(group, counts, waits));
    }
    settle(stations, post);
    if (!isLast()) {
      handle.giveBack(plan);
      post.close(out);
      return out.iterator();
    }
    return ending(out.iterator(), stations.results(post.empty(0)), plan);
  }

  /** Has the stations of the steps that run here settle their letters, but for those of level 0. */
  private void settle(StationStep stations, Post post) {
    for (int step = Math.max(from, 1); step < Math.min(to, step(0)); step++) {
      stations.run(post.empty(depth - step + 1));
    }
  }

  /** Messages, then results; the plan is given back behind the last of them. */
  private Iterator<Row> ending(Iterator<Row> out, Iterator<byte[]> results, Plan plan) {
    return new Iterator<>() {
      private boolean isOver;

      @Override
      public boolean hasNext() {
        if (out.hasNext() || results.hasNext()) {
          return true;
        }
        if (!isOver) {
          handle.giveBack(plan);
          isOver = true;
        }
        return false;
      }

      @Override
      public Row next() {
        return out.hasNext()
            ? out.next()
            : RowFactory.create(BucketMessage.PANES, results.next());
      }
    };
  }

  /** Takes the changes of a table; returns how many records they were. */
  private static long read(byte[] payload, TableStep tables, WholeTransactions held) {
    Blob in = Blob.reading(payload);
    int table = in.getInt();
    long records = 0;
    while (!in.atEnd()) {
      int kind = in.getInt();
      Changed change = Changed.read(in);
      records += (kind & TableRows.COUNTS) != 0 ? 1 : 0;
      if (held != null) {
        byte[] transaction = Boundaries.nameOf(in.getArray());
        held.add(new HeldChange(kind, change, transaction), table, in.getInt());
      } else {
        tables.take(table, kind, change);
      }
    }
    return records;
  }

  private void forward(List<Row> out, int group, Row message, byte[] payload) {
    if (!isLast()) {
      long time = message.getLong(BucketMessage.TIME);
      out.add(RowFactory.create(group, message.getInt(BucketMessage.KIND), 0L, time, payload));
    } else if (message.getInt(BucketMessage.KIND) != BucketMessage.CONTROL) {
      out.add(RowFactory.create(message.getInt(BucketMessage.KIND), payload));
    }
  }

  private void add(List<Row> out, int group, int kind, byte[] payload) {
    out.add(
        isLast()
            ? RowFactory.create(kind, payload)
            : RowFactory.create(group, kind, 0L, 0L, payload));
  }

  /** The first input with news, and the last knot of it: together they name the batch. */
  private static String first(String known, JsonNode node) {
    JsonNode knots = node.path("knots");
    if (knots.isEmpty()) {
      return known;
    }
    String name = node.path("input").asInt() + "." + knots.get(knots.size() - 1).get(0).asLong();
    return known.isEmpty() || name.compareTo(known) < 0 ? name : known;
  }

  private byte[] report(int group, long[] counts, String waits) {
    return Json.object()
        .put("bucket", Buckets.ofGroup(group, buckets))
        .put("absorbed", counts[0])
        .put("late", 0)
        .put("dead", counts[1])
        .put("waits", waits)
        .toString()
        .getBytes(StandardCharsets.UTF_8);
  }
}
