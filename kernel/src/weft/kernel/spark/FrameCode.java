package weft.kernel.spark;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeAndComment;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.GenerateExec;
import org.apache.spark.sql.execution.InputAdapter;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.RDDScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction2;

/**
 * What a frame makes of the rows of a batch, as the code that Spark has generated for it. To plan
 * a batch costs more than many a batch itself, and what is made of its rows is the same for one
 * after the other: it is planned once, and the code is run on the rows of those that follow.
 */
public final class FrameCode {
  private final StructType batch;
  private final StructType schema;
  private final CodedRows code;

  /** How files are read; null where rows come from tasks. */
  private final FileScan scan;

  /** Held, never read: tasks count with copies of these, and Spark forgets what nobody holds. */
  @SuppressWarnings("unused")
  private final Object[] counters;

  private FrameCode(
      StructType batch,
      StructType schema,
      CodeAndComment code,
      Object[] references,
      FileScan scan) {
    this.batch = batch;
    this.schema = schema;
    this.code = new CodedRows(code, references);
    this.scan = scan;
    this.counters = references;
  }

  /**
   * The code of a frame over that of a batch; null where it does more than to go through its rows
   * one by one, or Spark does not compile it whole.
   */
  public static FrameCode of(Dataset<Row> batch, Dataset<Row> frame) {
    var made = (org.apache.spark.sql.classic.Dataset<Row>) frame;
    if (!(made.queryExecution().executedPlan() instanceof WholeStageCodegenExec stage)) {
      return null;
    }
    SparkPlan leaf = leaf(stage.child());
    boolean isScan = leaf instanceof FileSourceScanExec && BatchFrame.filesOf(batch) != null;
    boolean isMade = leaf instanceof RDDScanExec && BatchFrame.rowsOf(batch) != null;
    if (!isScan && !isMade) {
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
    return new FrameCode(
        batch.schema(),
        frame.schema(),
        generated._2(),
        references.toArray(),
        isScan ? new FileScan(batch.sparkSession(), (FileSourceScanExec) leaf) : null);
  }

  /** Where the rows of a plan come from; null of one that does not take them one by one. */
  private static SparkPlan leaf(SparkPlan plan) {
    if (plan instanceof ProjectExec || plan instanceof FilterExec || plan instanceof GenerateExec) {
      return leaf(plan.children().head());
    }
    if (plan instanceof ColumnarToRowExec rows && rows.child() instanceof InputAdapter columns) {
      return columns.child();
    }
    return plan instanceof RDDScanExec ? plan : null;
  }

  /** Whether code can be run on the rows of a batch: they have the columns it was made for. */
  public static boolean fits(FrameCode code, Dataset<Row> batch) {
    boolean isFromHere =
        code.scan == null ? BatchFrame.rowsOf(batch) != null : BatchFrame.filesOf(batch) != null;
    return isFromHere && batch.schema().equals(code.batch);
  }

  /** The columns of what it makes. */
  public StructType schema() {
    return schema;
  }

  private RDD<InternalRow> partitions(Dataset<Row> rows) {
    return scan == null
        ? BatchFrame.rowsOf(rows)
        : scan.of(rows.sparkSession(), BatchFrame.filesOf(rows));
  }

  /** What it makes of the rows of a batch; each is gone when the next is asked for. */
  RDD<InternalRow> rows(Dataset<Row> batch) {
    return new CodedRdd(partitions(batch), code);
  }

  /** Runs it on a batch, and a task on what it makes of each partition; gives all answers. */
  public <T> List<T> collect(
      Dataset<Row> rows, Function2<Integer, Iterator<InternalRow>, T> task) {
    RDD<InternalRow> partitions = partitions(rows);
    if (partitions.getNumPartitions() == 0) {
      return List.of();
    }
    Object answers =
        partitions
            .sparkContext()
            .runJob(
                partitions,
                new Coded<>(code, task),
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

    private final CodedRows code;
    private final Function2<Integer, Iterator<InternalRow>, T> task;

    Coded(CodedRows code, Function2<Integer, Iterator<InternalRow>, T> task) {
      this.code = code;
      this.task = task;
    }

    @Override
    public Object apply(TaskContext context, scala.collection.Iterator<InternalRow> rows) {
      try {
        return task.call(context.partitionId(), code.over(context.partitionId(), rows));
      } catch (Exception e) {
        throw Sneaky.raise(e);
      }
    }
  }

  /** The same as partitions that other tasks go on from. */
  private static final class CodedRdd extends RDD<InternalRow> {
    private static final long serialVersionUID = 1;

    private final CodedRows code;

    CodedRdd(RDD<InternalRow> rows, CodedRows code) {
      super(rows, ClassTag$.MODULE$.apply(InternalRow.class));
      this.code = code;
    }

    @Override
    public Partition[] getPartitions() {
      return rows().partitions();
    }

    @Override
    public scala.collection.Iterator<InternalRow> compute(Partition part, TaskContext context) {
      return CollectionConverters.asScala(
          code.over(part.index(), rows().iterator(part, context)));
    }

    private RDD<InternalRow> rows() {
      return firstParent(ClassTag$.MODULE$.apply(InternalRow.class));
    }
  }
}
