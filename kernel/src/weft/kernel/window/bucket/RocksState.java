package weft.kernel.window.bucket;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import weft.kernel.window.state.BucketStore;

/** Runs an engine on Spark's transformWithState, whose state is in RocksDB. */
public final class RocksState extends StatefulProcessor<Integer, Row, Row> {
  private static final long serialVersionUID = 1;

  /** The name of the state variable, under which Spark's state reader finds it. */
  public static final String NAME = "window";

  private final Engine engine;
  private transient MapState<byte[], byte[]> state;

  public RocksState(Engine engine) {
    this.engine = engine;
  }

  @Override
  public void init(OutputMode mode, TimeMode time) {
    state = getHandle().getMapState(NAME, Encoders.BINARY(), Encoders.BINARY(), TTLConfig.NONE());
  }

  @Override
  public Iterator<Row> handleInputRows(Integer group, Iterator<Row> rows, TimerValues timers) {
    BucketStore store =
        new BucketStore() {
          @Override
          public byte[] get(byte[] key) {
            return state.getValue(key);
          }

          @Override
          public void put(byte[] key, byte[] value) {
            state.updateValue(key, value);
          }

          @Override
          public void remove(byte[] key) {
            state.removeKey(key);
          }

          @Override
          public List<byte[]> keys() {
            List<byte[]> keys = new ArrayList<>();
            CollectionConverters.asJava(state.keys()).forEachRemaining(keys::add);
            return keys;
          }
        };
    return CollectionConverters.asScala(
        engine.run(group, CollectionConverters.asJava(rows), store));
  }
}
