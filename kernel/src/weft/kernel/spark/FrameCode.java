package weft.kernel.spark;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeAndComment;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.execution.BufferedRowIterator;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.RDDScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction2;
import weft.kernel.bytes.Lent;

/**
 * What a frame makes of the rows of a batch, as the code that Spark has generated for it. To plan
 * a batch costs more than many a batch itself, and what is made of its rows is the same for one
 * after the other: it is planned once, and the code is run on the rows of those that follow.
 */
public final class FrameCode {
  private final StructType batch;
  private final StructType schema;
  private final CodeAndComment code;
  private final Lent<Object[]> references;

  /** Held, never read: tasks count with copies of these, and Spark forgets what nobody holds. */
  @SuppressWarnings("unused")
  private final Object[] counters;

  private FrameCode(
      StructType batch, StructType schema, CodeAndComment code, Object[] references) {
    this.batch = batch;
    this.schema = schema;
    this.code = code;
    this.references = new Lent<>(UUID.randomUUID().toString(), references);
    this.counters = references;
  }

  /**
   * The code of a frame over that of a batch; null where it does more than to compute columns of
   * each row, or Spark does not compile it whole.
   */
  public static FrameCode of(Dataset<Row> batch, Dataset<Row> frame) {
    var made = (org.apache.spark.sql.classic.Dataset<Row>) frame;
    if (rowsOf(batch) == null
        || !(made.queryExecution().executedPlan() instanceof WholeStageCodegenExec stage)
        || !selects(stage.child())) {
      return null;
    }
    Tuple2<CodegenContext, CodeAndComment> generated = stage.doCodeGen();
    try {
      int longest = CodeGenerator.compile(generated._2())._2().maxMethodCodeSize();
      if (longest > stage.conf().hugeMethodLimit()) {
        return null;
      }
    } catch (RuntimeException | Error tooMuch) { // Spark itself then goes on without this code
      return null;
    }
    List<Object> references = CollectionConverters.asJava(generated._1().references());
    return new FrameCode(batch.schema(), frame.schema(), generated._2(), references.toArray());
  }

  private static boolean selects(SparkPlan plan) {
    return plan instanceof ProjectExec project
        ? selects(project.child())
        : plan instanceof RDDScanExec;
  }

  /** The rows of a batch as its query has planned them; null for a frame that is no batch. */
  private static RDD<InternalRow> rowsOf(Dataset<Row> batch) {
    var frame = (org.apache.spark.sql.classic.Dataset<Row>) batch;
    return frame.logicalPlan() instanceof LogicalRDD rows ? rows.rdd() : null;
  }

  /** Whether code can be run on the rows of a batch: they have the columns it was made for. */
  public static boolean fits(FrameCode code, Dataset<Row> batch) {
    return rowsOf(batch) != null && batch.schema().equals(code.batch);
  }

  /** The columns of what it makes. */
  public StructType schema() {
    return schema;
  }

  /** Runs it on a batch, and a task on what it makes of each partition; gives all answers. */
  public <T> List<T> collect(
      Dataset<Row> rows, Function2<Integer, Iterator<InternalRow>, T> task) {
    RDD<InternalRow> partitions = rowsOf(rows);
    if (partitions.getNumPartitions() == 0) {
      return List.of();
    }
    Object answers =
        partitions
            .sparkContext()
            .runJob(
                partitions,
                new Coded<>(code, references, task),
                ClassTag$.MODULE$.<Object>apply(Object.class));
    @SuppressWarnings("unchecked")
    List<T> found = (List<T>) List.of((Object[]) answers);
    return found;
  }

  /** A class with a name, for Spark looks through the bytes of those without each time. */
  private static final class Coded<T>
      extends AbstractFunction2<TaskContext, scala.collection.Iterator<InternalRow>, Object>
      implements Serializable {
    private static final long serialVersionUID = 1;

    private final CodeAndComment code;
    private final Lent<Object[]> references;
    private final Function2<Integer, Iterator<InternalRow>, T> task;

    Coded(
        CodeAndComment code,
        Lent<Object[]> references,
        Function2<Integer, Iterator<InternalRow>, T> task) {
      this.code = code;
      this.references = references;
      this.task = task;
    }

    @Override
    @SuppressWarnings({"rawtypes", "unchecked"}) // Java has no arrays of types with parameters
    public Object apply(TaskContext context, scala.collection.Iterator<InternalRow> rows) {
      Object[] borrowed = references.borrow();
      BufferedRowIterator made =
          (BufferedRowIterator) CodeGenerator.compile(code)._1().generate(borrowed);
      made.init(context.partitionId(), new scala.collection.Iterator[] {rows});
      try {
        T answer = task.call(context.partitionId(), new Made(made));
        references.giveBack(borrowed);
        return answer;
      } catch (Exception e) {
        throw Sneaky.raise(e);
      }
    }
  }

  private record Made(BufferedRowIterator rows) implements Iterator<InternalRow> {
    @Override
    public boolean hasNext() {
      try {
        return rows.hasNext();
      } catch (java.io.IOException e) {
        throw Sneaky.raise(e);
      }
    }

    @Override
    public InternalRow next() {
      return rows.next();
    }
  }
}
