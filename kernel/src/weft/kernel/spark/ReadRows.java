package weft.kernel.spark;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.util.TaskCompletionListener;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** The rows of a source's partitions, of which a task reads one or several, one after the other. */
public final class ReadRows extends RDD<InternalRow> {
  private static final long serialVersionUID = 1;

  private final transient List<List<InputPartition>> packs;
  private final PartitionReaderFactory readers;

  private ReadRows(
      SparkSession spark, List<List<InputPartition>> packs, PartitionReaderFactory readers) {
    super(
        Sessions.context(spark),
        Sequences.<Dependency<?>>none(),
        ClassTag$.MODULE$.apply(InternalRow.class));
    this.packs = packs;
    this.readers = readers;
  }

  /** No rows. */
  public static ReadRows none(SparkSession spark) {
    return new ReadRows(spark, List.of(), null);
  }

  /**
   * The rows of these partitions.
   *
   * @param isLittle whether they are so few that one task reads all of them: another one for them
   *     would cost more than it does
   */
  public static ReadRows of(
      SparkSession spark,
      InputPartition[] parts,
      PartitionReaderFactory readers,
      boolean isLittle) {
    List<List<InputPartition>> packs = new ArrayList<>();
    if (isLittle && parts.length > 0) {
      packs.add(List.of(parts));
    } else {
      Arrays.stream(parts).forEach(part -> packs.add(List.of(part)));
    }
    return new ReadRows(spark, packs, readers);
  }

  /** What one task reads. */
  private static final class ReadShare extends Numbered {
    private static final long serialVersionUID = 1;
    private final ArrayList<InputPartition> parts;

    ReadShare(int number, List<InputPartition> parts) {
      super(number);
      this.parts = new ArrayList<>(parts);
    }
  }

  @Override
  public Partition[] getPartitions() {
    Partition[] partitions = new Partition[packs.size()];
    for (int number = 0; number < partitions.length; number++) {
      partitions[number] = new ReadShare(number, packs.get(number));
    }
    return partitions;
  }

  @Override
  public Seq<String> getPreferredLocations(Partition part) {
    return Sequences.of(List.of(((ReadShare) part).parts.get(0).preferredLocations()));
  }

  @Override
  public scala.collection.Iterator<InternalRow> compute(Partition part, TaskContext context) {
    RowReader reading = new RowReader(((ReadShare) part).parts.iterator(), readers);
    context.addTaskCompletionListener((TaskCompletionListener) ended -> reading.close());
    return CollectionConverters.asScala(reading);
  }

  /** The rows of one task; each is gone when the next is asked for. */
  private static final class RowReader implements Iterator<InternalRow> {
    private final Iterator<InputPartition> parts;
    private final PartitionReaderFactory readers;
    private PartitionReader<?> reader;
    private Iterator<InternalRow> rows = List.<InternalRow>of().iterator();

    /** Asked for once: some readers go on when they are asked again. */
    private InternalRow ahead;

    RowReader(Iterator<InputPartition> parts, PartitionReaderFactory readers) {
      this.parts = parts;
      this.readers = readers;
    }

    @Override
    public boolean hasNext() {
      try {
        while (ahead == null && !rows.hasNext()) {
          if (reader == null) {
            if (!parts.hasNext()) {
              return false;
            }
            reader = open(parts.next());
          }
          read();
        }
      } catch (IOException e) {
        throw Sneaky.raise(e);
      }
      return true;
    }

    private PartitionReader<?> open(InputPartition part) {
      return readers.supportColumnarReads(part)
          ? readers.createColumnarReader(part)
          : readers.createReader(part);
    }

    private void read() throws IOException {
      if (!reader.next()) {
        close();
        return;
      }
      Object got = reader.get();
      if (got instanceof ColumnarBatch batch) {
        rows = batch.rowIterator();
      } else {
        ahead = (InternalRow) got;
      }
    }

    @Override
    public InternalRow next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      if (ahead == null) {
        return rows.next();
      }
      InternalRow row = ahead;
      ahead = null;
      return row;
    }

    void close() {
      if (reader != null) {
        try {
          reader.close();
        } catch (IOException e) {
          throw Sneaky.raise(e);
        } finally {
          reader = null;
        }
      }
    }
  }
}
