package weft.kernel.spark;

import java.io.Serializable;
import org.apache.spark.SparkContext;
import org.apache.spark.util.LongAccumulator;

/** How large the state of an operator is, as its tasks have told in the last batch. */
public final class StateSize implements Serializable {
  private static final long serialVersionUID = 1;

  private final LongAccumulator entries = new LongAccumulator();
  private final LongAccumulator bytes = new LongAccumulator();

  public static StateSize in(org.apache.spark.sql.SparkSession spark) {
    SparkContext context = ((org.apache.spark.sql.classic.SparkSession) spark).sparkContext();
    StateSize size = new StateSize();
    context.register(size.entries);
    context.register(size.bytes);
    return size;
  }

  /** Begins a batch. */
  public void reset() {
    entries.reset();
    bytes.reset();
  }

  void add(OpenState state) {
    entries.add(state.size());
    bytes.add(state.bytes());
  }

  public long entries() {
    return entries.sum();
  }

  public long bytes() {
    return bytes.sum();
  }
}
