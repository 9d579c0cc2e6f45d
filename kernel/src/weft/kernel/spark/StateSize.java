package weft.kernel.spark;

import java.io.Serializable;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.AccumulatorV2;

/**
 * How large the state of an operator is: of each part what its task has told when it was last
 * committed, so that it is known of all of them while a batch runs too.
 */
public final class StateSize
    extends AccumulatorV2<StateSize.PartSize, Collection<StateSize.PartSize>> {
  private static final long serialVersionUID = 1;

  private final Map<List<Integer>, PartSize> parts = new ConcurrentHashMap<>();

  /** What a step keeps in one of its partitions. */
  record PartSize(int step, int partition, long entries, long bytes) implements Serializable {}

  public static StateSize in(SparkSession spark) {
    StateSize size = new StateSize();
    Sessions.context(spark).register(size);
    return size;
  }

  /** How many entries there are, where they are counted. */
  public long entries() {
    return parts.values().stream().mapToLong(PartSize::entries).sum();
  }

  /** How many bytes of memory it holds. */
  public long bytes() {
    return parts.values().stream().mapToLong(PartSize::bytes).sum();
  }

  @Override
  public void add(PartSize part) {
    parts.put(List.of(part.step(), part.partition()), part);
  }

  @Override
  public void merge(AccumulatorV2<PartSize, Collection<PartSize>> later) {
    later.value().forEach(this::add);
  }

  @Override
  public Collection<PartSize> value() {
    return List.copyOf(parts.values());
  }

  @Override
  public boolean isZero() {
    return parts.isEmpty();
  }

  @Override
  public void reset() {
    parts.clear();
  }

  @Override
  public StateSize copy() {
    StateSize copy = new StateSize();
    copy.parts.putAll(parts);
    return copy;
  }
}
