package weft.kernel.operator;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import weft.kernel.bytes.Lent;
import weft.kernel.json.Json;
import weft.kernel.spark.Addressed;
import weft.kernel.spark.Exchange;
import weft.kernel.spark.FrameCode;
import weft.kernel.spark.OpenState;
import weft.kernel.spark.Sessions;
import weft.kernel.spark.StatePlace;
import weft.kernel.spark.StateSize;
import weft.kernel.spark.StateStores;
import weft.kernel.spark.StateTask;

/**
 * An operator with state, run batch by batch without a plan of Spark's: the rows of its inputs go
 * as messages to buckets of keys, where an engine makes results of them, in one step or in several.
 */
public final class Operator {
  /** Up to so many rows all tasks look through them, rather than to hand them on. */
  private static final long LITTLE = 2_000;

  /**
   * In no more files than these: each task opens all of them, one after the other. On a disk that
   * takes as long for ten or so as to open each once and to hand on what is in it.
   */
  private static final int FEW = 8;

  private final SparkSession spark;
  private final List<Input> inputs;
  private final List<Lent<Engine>> steps = new ArrayList<>();
  private final int buckets;
  private final StructType schema;
  private final FrameCode[] codes;
  private final StateSize size;

  /** Stands for the query where none runs the batches. */
  private final UUID alone = UUID.randomUUID();

  private StateStores stores;
  private String opened = "";

  /**
   * One input.
   *
   * @param columns those that the router reads
   * @param laidOut these columns of the rows of a batch
   * @param router makes messages of them
   */
  public record Input(
      Columns columns, Function<Dataset<Row>, Dataset<Row>> laidOut, Lent<Router> router) {
    public static Input of(
        Columns columns, Function<Dataset<Row>, Dataset<Row>> laidOut, Router router) {
      return new Input(columns, laidOut, new Lent<>(UUID.randomUUID().toString(), router));
    }
  }

  /**
   * @param steps the engine of each step; those before the last send messages to the next
   * @param schema the columns of results: of the result, of a late row, the report, a dead letter
   */
  public Operator(
      SparkSession spark,
      List<Input> inputs,
      List<? extends Engine> steps,
      int buckets,
      StructType schema) {
    this.spark = spark;
    this.inputs = List.copyOf(inputs);
    steps.forEach(step -> this.steps.add(new Lent<>(UUID.randomUUID().toString(), step)));
    this.buckets = buckets;
    this.schema = schema;
    this.codes = new FrameCode[inputs.size()];
    this.size = StateSize.in(spark);
  }

  /** The columns of results. */
  public StructType schema() {
    return schema;
  }

  /**
   * What a batch makes: results, late rows, reports and dead letters.
   *
   * @param batches what it has of each input
   * @param checkpoint the checkpoint directory that has its state
   * @param number the batch; its state is that which the batch before it has left behind
   * @param partitions how many partitions the state has
   * @param isOnHeap whether it is kept in memory and not in RocksDB
   */
  public Dataset<Row> run(
      List<InputBatch> batches,
      String checkpoint,
      long number,
      int partitions,
      boolean isOnHeap) {
    UUID run = Sessions.query(spark).orElse(alone);
    if (!opened.equals(run + checkpoint)) {
      stores = StateStores.in(spark, checkpoint, run, isOnHeap);
      opened = run + checkpoint;
    }
    List<Exchange> sent = new ArrayList<>();
    List<byte[]> controls = new ArrayList<>();
    long rows = 0;
    int files = 0;
    for (int at = 0; at < inputs.size(); at++) {
      InputBatch batch = batches.get(at);
      sent.add(send(at, batch.frame()));
      ObjectNode told = Json.parseObject(batch.control());
      controls.add(told.put("input", at).toString().getBytes(StandardCharsets.UTF_8));
      rows += batch.rows();
      files += batch.files();
    }
    Exchange messages = Exchange.together(sent);
    boolean isLittle = rows <= LITTLE && files <= FEW;
    int last = steps.size() - 1;
    for (int step = 0; step < last; step++) {
      Passing passing = new Passing(receiving(step, partitions, controls));
      messages = messages.pass(isLittle, place(step, partitions, number), passing);
      // What a step has made of little is not made again by each task of the next.
      isLittle = false;
      controls = List.of();
    }
    Closing ending = new Closing(receiving(last, partitions, controls), schema);
    return messages.end(isLittle, place(last, partitions, number), ending, schema);
  }

  private Exchange send(int input, Dataset<Row> batch) {
    Routing routing = new Routing(inputs.get(input).router());
    if (codes[input] == null || !FrameCode.fits(codes[input], batch)) {
      Dataset<Row> laidOut = inputs.get(input).laidOut().apply(batch);
      inputs.get(input).columns().check(laidOut.schema());
      codes[input] = FrameCode.of(batch, laidOut);
      if (codes[input] == null) {
        return Exchange.send(laidOut, routing);
      }
    }
    return Exchange.send(codes[input], batch, routing);
  }

  private StatePlace place(int step, int partitions, long version) {
    return new StatePlace(stores, step, partitions, buckets, version, size);
  }

  private Receiving receiving(int step, int partitions, List<byte[]> controls) {
    return new Receiving(steps.get(step), buckets, partitions, controls);
  }

  /** How large the state is: entries, where they are counted, and bytes of memory. */
  public long[] stateSize() {
    return new long[] {size.entries(), size.bytes()};
  }

  /** A step whose messages go to another. */
  private record Passing(Receiving step) implements StateTask<Addressed> {
    @Override
    public Iterator<Addressed> run(int partition, Iterator<byte[]> received, OpenState state) {
      return Routing.addressed(step.run(partition, received, state));
    }
  }

  /** The last step, whose messages are results. */
  private record Closing(Receiving step, StructType schema) implements StateTask<InternalRow> {
    @Override
    public Iterator<InternalRow> run(int partition, Iterator<byte[]> received, OpenState state) {
      return new ResultRows(step.run(partition, received, state), schema);
    }
  }
}
