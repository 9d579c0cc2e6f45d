package weft.kernel.change;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import weft.kernel.bytes.Blob;
import weft.kernel.bytes.Lent;
import weft.kernel.json.Json;
import weft.kernel.operator.BucketStore;
import weft.kernel.operator.Engine;
import weft.kernel.operator.Message;

/**
 * Some steps of a plan in one bucket. The steps are the rows of the tables, then the levels of its
 * stations from the highest to 0; each sends letters to those after it.
 *
 * <p>A plan with one bucket runs all of them in one engine, and nothing leaves it but results.
 * With several, each step is an engine of its own, and letters travel between as parcels.
 */
final class ChangeEngine implements Engine {
  private static final long serialVersionUID = 1;

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
  public Batch begin(int bucket, BucketStore store) {
    return new ChangeBatch(bucket, store);
  }

  private final class ChangeBatch implements Batch {
    private final int bucket;
    private final Plan plan = handle.borrow();
    private final List<Message> out = new ArrayList<>();
    private final Post post = new Post(plan, buckets);
    private final Outlet outlet = new Outlet(plan);
    private final TableStep tables;
    private final WholeTransactions held;
    private final StationStep stations;
    private final boolean takesAhead;
    private long absorbed;
    private long dead;
    private String batch = "";

    ChangeBatch(int bucket, BucketStore store) {
      this.bucket = bucket;
      this.tables = from == 0 ? new TableStep(plan, store, post) : null;
      this.held =
          boundaries == null ? null : new WholeTransactions(boundaries, plan, store, tables);
      this.stations = new StationStep(plan, new Desk(store, post, outlet));
      this.takesAhead = from == 0 && isLast() && boundaries == null && plan.takesAhead();
    }

    @Override
    public void take(Message message) {
      switch (message.kind()) {
        case Message.CONTROL -> {
          JsonNode told = Json.parse(new String(message.payload(), StandardCharsets.UTF_8));
          batch = first(batch, told);
          forward(message);
        }
        case Message.TAKEN -> absorbed += message.time();
        case Message.SEGMENT -> {
          absorbed += read(message.payload(), tables, held);
          if (takesAhead && tables.taken() >= most) {
            tables.run();
            settle(stations, post);
            stations.takeAhead(post.empty(0));
          }
        }
        case Message.DEAD -> {
          dead += from == 0 ? 1 : 0;
          forward(message);
        }
        case Message.PARCEL -> {
          int level = (int) message.time();
          if (step(level) < to) {
            post.open(level, message.payload());
          } else {
            forward(message);
          }
        }
        default -> forward(message);
      }
    }

    private void forward(Message message) {
      if (!isLast() || message.kind() != Message.CONTROL) {
        out.add(message);
      }
    }

    @Override
    public Iterator<Message> end() {
      outlet.name(batch);
      if (from == 0) {
        String waits = held == null ? "" : held.release();
        tables.run();
        out.add(Message.of(bucket, Message.REPORT, report(bucket, absorbed, dead, waits)));
      }
      settle(stations, post);
      if (isLast()) {
        return new Ending(bucket, out.iterator(), stations.results(post.empty(0)), plan);
      }
      handle.giveBack(plan);
      post.close(out);
      return out.iterator();
    }
  }

  /** Has the stations of the steps that run here settle their letters, but for those of level 0. */
  private void settle(StationStep stations, Post post) {
    for (int step = Math.max(from, 1); step < Math.min(to, step(0)); step++) {
      stations.run(post.empty(depth - step + 1));
    }
  }

  /** Messages, then results; the plan is given back behind the last of them. */
  private final class Ending implements Iterator<Message> {
    private final int bucket;
    private final Iterator<Message> out;
    private final Iterator<byte[]> results;
    private final Plan plan;
    private boolean isOver;

    Ending(int bucket, Iterator<Message> out, Iterator<byte[]> results, Plan plan) {
      this.bucket = bucket;
      this.out = out;
      this.results = results;
      this.plan = plan;
    }

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
    public Message next() {
      return out.hasNext() ? out.next() : Message.of(bucket, Message.RESULTS, results.next());
    }
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

  /** The first input with news, and the last knot of it: together they name the batch. */
  private static String first(String known, JsonNode node) {
    JsonNode knots = node.path("knots");
    if (knots.isEmpty()) {
      return known;
    }
    String name = node.path("input").asInt() + "." + knots.get(knots.size() - 1).get(0).asLong();
    return known.isEmpty() || name.compareTo(known) < 0 ? name : known;
  }

  private static byte[] report(int bucket, long absorbed, long dead, String waits) {
    return Json.object()
        .put("bucket", bucket)
        .put("absorbed", absorbed)
        .put("late", 0)
        .put("dead", dead)
        .put("waits", waits)
        .toString()
        .getBytes(StandardCharsets.UTF_8);
  }
}
