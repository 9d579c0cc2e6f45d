package weft.kernel.spark;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.Dependency;
import org.apache.spark.NarrowDependency;
import org.apache.spark.Partition;
import org.apache.spark.Partitioner;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.rdd.ShuffledRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.math.Ordering;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import weft.kernel.bytes.Mapped;

/**
 * What the tasks of a step send to those of the next, which get it by their partitions, with the
 * state that they keep. Nothing runs before the rows of the frame at the end are asked for.
 */
public final class Exchange {
  private static final ClassTag<Tuple2<Integer, byte[]>> PAIR =
      ClassTag$.MODULE$.apply(Tuple2.class);

  @SuppressWarnings("unchecked") // for Scala, a number is one whatever it is kept in
  private static final Ordering<Integer> RISING =
      (Ordering<Integer>) (Ordering<?>) Ordering.Int$.MODULE$;

  private final SparkSession spark;
  private final RDD<Tuple2<Integer, byte[]>> sent;

  private Exchange(SparkSession spark, RDD<Tuple2<Integer, byte[]>> sent) {
    this.spark = spark;
    this.sent = sent;
  }

  /** What a task sends of the rows of a frame, which Spark plans. */
  public static Exchange send(Dataset<Row> frame, AddressTask task) {
    return new Exchange(
        frame.sparkSession(), new AddressedRdd(FrameRows.of(frame).rows().rdd(), task));
  }

  /** What a task sends of that which code makes of the rows of a batch. */
  public static Exchange send(FrameCode code, Dataset<Row> batch, AddressTask task) {
    return new Exchange(batch.sparkSession(), new AddressedRdd(code.rows(batch), task));
  }

  /** All that several have sent. */
  public static Exchange together(List<Exchange> all) {
    Exchange first = all.get(0);
    if (all.size() == 1) {
      return first;
    }
    List<RDD<Tuple2<Integer, byte[]>>> parts = all.stream().map(one -> one.sent).toList();
    return new Exchange(
        first.spark, first.sent.sparkContext().union(Sequences.of(parts), PAIR));
  }

  /**
   * What tasks with state send of it to those of the next step.
   *
   * @param isLittle whether it is so little that each of them looks through all of it, which takes
   *     less than to write it down for the others
   */
  public Exchange pass(boolean isLittle, StatePlace place, StateTask<Addressed> task) {
    return new Exchange(spark, receive(isLittle, place, new Paired(task), PAIR));
  }

  /** What tasks with state make of it, as a frame. */
  public Dataset<Row> end(
      boolean isLittle, StatePlace place, StateTask<InternalRow> task, StructType schema) {
    ClassTag<InternalRow> row = ClassTag$.MODULE$.apply(InternalRow.class);
    return BatchFrame.of(spark, receive(isLittle, place, task, row), schema);
  }

  private <T> RDD<T> receive(
      boolean isLittle, StatePlace place, StateTask<T> task, ClassTag<T> made) {
    if (isLittle) {
      return new StateRdd<>(sent, new EveryPartition<>(sent), false, place, task, made);
    }
    ShuffledRDD<Integer, byte[], byte[]> shuffled =
        new ShuffledRDD<>(
            sent,
            new ByNumber(place.partitions()),
            ClassTag$.MODULE$.apply(Integer.class),
            ClassTag$.MODULE$.apply(byte[].class),
            ClassTag$.MODULE$.apply(byte[].class));
    shuffled.setSerializer(new AddressedForm());
    if (place.numbers() > place.partitions()) {
      shuffled.setKeyOrdering(RISING);
    }
    RDD<Tuple2<Integer, byte[]>> sorted = pairs(shuffled);
    return new StateRdd<>(sorted, new SamePartition(sorted), true, place, task, made);
  }

  @SuppressWarnings("unchecked") // for Scala, a pair is one whatever is in it
  private static RDD<Tuple2<Integer, byte[]>> pairs(RDD<?> shuffled) {
    return (RDD<Tuple2<Integer, byte[]>>) shuffled;
  }

  private static Iterator<Tuple2<Integer, byte[]>> pairs(Iterator<Addressed> sent) {
    return Mapped.of(sent, next -> new Tuple2<>(next.to(), next.bytes()));
  }

  private record Paired(StateTask<Addressed> task) implements StateTask<Tuple2<Integer, byte[]>> {
    @Override
    public Iterator<Tuple2<Integer, byte[]>> run(
        int partition, Iterator<byte[]> received, OpenState state) {
      return pairs(task.run(partition, received, state));
    }
  }

  private static final class ByNumber extends Partitioner {
    private static final long serialVersionUID = 1;
    private final int partitions;

    ByNumber(int partitions) {
      this.partitions = partitions;
    }

    @Override
    public int numPartitions() {
      return partitions;
    }

    @Override
    public int getPartition(Object key) {
      return Addressed.partition((Integer) key, partitions);
    }
  }

  private static final class SamePartition extends NarrowDependency<Tuple2<Integer, byte[]>> {
    private static final long serialVersionUID = 1;

    SamePartition(RDD<Tuple2<Integer, byte[]>> rdd) {
      super(rdd);
    }

    @Override
    public Seq<Object> getParents(int partition) {
      return Sequences.of(List.of(partition));
    }
  }

  private static final class EveryPartition<T> extends NarrowDependency<T> {
    private static final long serialVersionUID = 1;

    EveryPartition(RDD<T> rdd) {
      super(rdd);
    }

    @Override
    public Seq<Object> getParents(int partition) {
      return Sequences.of(
          IntStream.range(0, rdd().getNumPartitions()).<Object>mapToObj(each -> each).toList());
    }
  }

  private static final class AddressedRdd extends RDD<Tuple2<Integer, byte[]>> {
    private static final long serialVersionUID = 1;
    private final AddressTask task;

    AddressedRdd(RDD<InternalRow> rows, AddressTask task) {
      super(rows, PAIR);
      this.task = task;
    }

    @Override
    public Partition[] getPartitions() {
      return rows().partitions();
    }

    private RDD<InternalRow> rows() {
      return firstParent(ClassTag$.MODULE$.apply(InternalRow.class));
    }

    @Override
    public scala.collection.Iterator<Tuple2<Integer, byte[]>> compute(
        Partition part, TaskContext context) {
      return CollectionConverters.asScala(
          pairs(task.send(CollectionConverters.asJava(rows().iterator(part, context)))));
    }
  }

  private static final class Gathered extends Numbered {
    private static final long serialVersionUID = 1;
    private final Partition[] parents;

    Gathered(int number, Partition[] parents) {
      super(number);
      this.parents = parents;
    }
  }

  private static final class StateRdd<T> extends RDD<T> {
    private static final long serialVersionUID = 1;
    private final NarrowDependency<Tuple2<Integer, byte[]>> from;
    private final boolean isSorted;
    private final StatePlace place;
    private final StateTask<T> task;

    StateRdd(
        RDD<Tuple2<Integer, byte[]>> sent,
        NarrowDependency<Tuple2<Integer, byte[]>> from,
        boolean isSorted,
        StatePlace place,
        StateTask<T> task,
        ClassTag<T> made) {
      super(sent.sparkContext(), Sequences.<Dependency<?>>of(List.of(from)), made);
      this.from = from;
      this.isSorted = isSorted;
      this.place = place;
      this.task = task;
    }

    @Override
    public Partition[] getPartitions() {
      Partition[] parents = from.rdd().partitions();
      Partition[] partitions = new Partition[place.partitions()];
      for (int number = 0; number < partitions.length; number++) {
        List<Partition> needed = new ArrayList<>();
        CollectionConverters.asJava(from.getParents(number))
            .forEach(parent -> needed.add(parents[(Integer) parent]));
        partitions[number] = new Gathered(number, needed.toArray(Partition[]::new));
      }
      return partitions;
    }

    @Override
    public Seq<String> getPreferredLocations(Partition part) {
      return place.stores().locations(place.step(), part.index());
    }

    @Override
    public scala.collection.Iterator<T> compute(Partition part, TaskContext context) {
      OpenState state = place.stores().open(place.step(), part.index(), place.version());
      context.addTaskCompletionListener((TaskCompletionListener) ended -> state.close());
      Received received = new Received(from.rdd(), (Gathered) part, place.partitions(), context);
      Iterator<T> made =
          task.run(part.index(), isSorted ? received : received.sorted(), state);
      return CollectionConverters.asScala(
          new Iterator<T>() {
            private boolean isOver;

            @Override
            public boolean hasNext() {
              if (!isOver && !made.hasNext()) {
                isOver = true;
                // Another try may have the version by now, and what is behind it.
                context.killTaskIfInterrupted();
                state.commit();
                place.tell(part.index(), state);
              }
              return !isOver;
            }

            @Override
            public T next() {
              return made.next();
            }
          });
    }
  }

  /** What was sent to a partition, out of all that its parents have. */
  private static final class Received implements Iterator<byte[]> {
    private final RDD<Tuple2<Integer, byte[]>> sent;
    private final Gathered part;
    private final int partitions;
    private final TaskContext context;
    private int parent;
    private scala.collection.Iterator<Tuple2<Integer, byte[]>> pairs;
    private Tuple2<Integer, byte[]> next;

    Received(
        RDD<Tuple2<Integer, byte[]>> sent, Gathered part, int partitions, TaskContext context) {
      this.sent = sent;
      this.part = part;
      this.partitions = partitions;
      this.context = context;
    }

    /** All of it in the order of its numbers, where that is little. */
    Iterator<byte[]> sorted() {
      List<Tuple2<Integer, byte[]>> all = new ArrayList<>();
      while (hasNext()) {
        all.add(taken());
      }
      all.sort(Comparator.comparing(Tuple2::_1));
      return Mapped.of(all.iterator(), Tuple2::_2);
    }

    @Override
    public boolean hasNext() {
      while (next == null) {
        if (pairs != null && pairs.hasNext()) {
          Tuple2<Integer, byte[]> pair = pairs.next();
          next = Addressed.partition(pair._1(), partitions) == part.index() ? pair : null;
        } else if (parent < part.parents.length) {
          pairs = sent.iterator(part.parents[parent++], context);
        } else {
          return false;
        }
      }
      return true;
    }

    private Tuple2<Integer, byte[]> taken() {
      Tuple2<Integer, byte[]> found = next;
      next = null;
      return found;
    }

    @Override
    public byte[] next() {
      return taken()._2();
    }
  }
}
