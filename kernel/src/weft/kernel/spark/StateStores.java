package weft.kernel.spark;

import java.io.Serializable;
import java.util.Iterator;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;
import org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreMap$;
import org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.NoPrefixKeyStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.RocksDB;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStore$;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.execution.streaming.state.StateStoreCoordinatorRef;
import org.apache.spark.sql.execution.streaming.state.StateStoreCoordinatorRef$;
import org.apache.spark.sql.execution.streaming.state.StateStoreId;
import org.apache.spark.sql.execution.streaming.state.StateStoreMetrics;
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider$;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import org.apache.spark.util.TaskCompletionListener;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import weft.kernel.bytes.Mapped;

/**
 * The state of an operator in a checkpoint, one of Spark's stores for each of its partitions, with
 * a version for each batch that has left one behind.
 */
public final class StateStores implements Serializable {
  private static final long serialVersionUID = 1;

  private static final StructType BYTES = new StructType().add("bytes", DataTypes.BinaryType);
  private static final String FOLDER = "/state";
  private static final String FAMILY = StateStore$.MODULE$.DEFAULT_COL_FAMILY_NAME();

  /** The queries of this driver that have had state open. */
  private static final Set<UUID> OPENED = ConcurrentHashMap.newKeySet();

  private final String checkpoint;
  private final UUID run;
  private final StateStoreConf conf;
  private final Broadcast<SerializableConfiguration> hadoop;

  private StateStores(
      String checkpoint,
      UUID run,
      StateStoreConf conf,
      Broadcast<SerializableConfiguration> hadoop) {
    this.checkpoint = checkpoint;
    this.run = run;
    this.conf = conf;
    this.hadoop = hadoop;
  }

  /**
   * The state in a checkpoint directory, as one query has it open.
   *
   * @param run which query: Spark closes the stores of one that has ended
   * @param isOnHeap whether it is kept in memory and not in RocksDB
   */
  public static StateStores in(
      org.apache.spark.sql.SparkSession session, String checkpoint, UUID run, boolean isOnHeap) {
    SparkSession spark = (SparkSession) session;
    // A session that is asked for its queries makes it too, but also a listener of its own, which
    // nobody takes away again.
    coordinator(session);
    SQLConf settings = spark.sessionState().conf().clone();
    Class<? extends StateStoreProvider> provider =
        isOnHeap ? HDFSBackedStateStoreProvider.class : RocksDBStateStoreProvider.class;
    settings.setConfString(SQLConf.STATE_STORE_PROVIDER_CLASS().key(), provider.getName());
    Configuration hadoop = spark.sessionState().newHadoopConf();
    hadoop.set(StreamExecution.RUN_ID_KEY(), run.toString());
    return new StateStores(
        checkpoint + FOLDER,
        run,
        new StateStoreConf(settings, Map$.MODULE$.empty()),
        SerializableConfiguration.broadcast(spark.sparkContext(), hadoop));
  }

  /** A query has ended: executors close what they have open of it. */
  public static void forget(org.apache.spark.sql.SparkSession session, String run) {
    UUID id = UUID.fromString(run);
    if (OPENED.remove(id)) {
      coordinator(session).deactivateInstances(id);
    }
  }

  /** What stores report to, made where no query has made it yet. */
  private static StateStoreCoordinatorRef coordinator(org.apache.spark.sql.SparkSession session) {
    SQLConf conf = ((SparkSession) session).sessionState().conf();
    return StateStoreCoordinatorRef$.MODULE$.forDriver(SparkEnv.get(), conf);
  }

  /** Where a store of a partition is open already, if it is. */
  Seq<String> locations(int operator, int partition) {
    OPENED.add(run);
    var coordinator = StateStoreProvider$.MODULE$.coordinatorRef();
    return coordinator.isEmpty()
        ? Sequences.none()
        : coordinator.get().getLocation(id(operator, partition)).toList();
  }

  private StateStoreProviderId id(int operator, int partition) {
    return new StateStoreProviderId(
        new StateStoreId(checkpoint, operator, partition, StateStoreId.DEFAULT_STORE_NAME()), run);
  }

  /** Opens a version of a partition in a task, which makes the next version of it. */
  public OpenState open(int operator, int partition, long version) {
    StateStore store =
        StateStore$.MODULE$.get(
            id(operator, partition),
            BYTES,
            BYTES,
            new NoPrefixKeyStateEncoderSpec(BYTES),
            version,
            Option.empty(),
            Option.empty(),
            false,
            conf,
            hadoop.value().value(),
            false);
    return opened(store, id(operator, partition).toString(), () -> giveUp(store));
  }

  /** Forgets what was not committed; until then a store in RocksDB cannot be closed. */
  private static void giveUp(StateStore store) {
    if (!store.hasCommitted()) {
      store.abort();
    }
  }

  /** Opens a partition that has nothing yet, to make a version of it. */
  public OpenState create(int operator, int partition, long version) {
    return alone(operator, partition, provider -> empty(provider, version - 1));
  }

  /** A store with nothing in it that stands at a version, whether or not there are others. */
  private static StateStore empty(StateStoreProvider provider, long version) {
    if (provider instanceof HDFSBackedStateStoreProvider heap) {
      // It refuses to begin with nothing at a version, but any map makes a store of its own.
      return heap.new HDFSBackedStateStore(
          version, HDFSBackedStateStoreMap$.MODULE$.create(BYTES, 0, Option.empty()), true);
    }
    return provider.getStore(version, Option.empty(), true, true);
  }

  /** Opens a version of a partition in a task, to be read and not to be changed. */
  public OpenState read(int operator, int partition, long version) {
    OpenState state =
        alone(
            operator,
            partition,
            provider -> provider.getStore(version, Option.empty(), false, false));
    TaskContext.get().addTaskCompletionListener((TaskCompletionListener) task -> state.close());
    return state;
  }

  /** A store of a provider that has no other, and is closed with it or when there is none. */
  private OpenState alone(
      int operator, int partition, Function<StateStoreProvider, StateStore> getStore) {
    StateStoreProvider provider =
        StateStoreProvider$.MODULE$.createAndInit(
            id(operator, partition),
            BYTES,
            BYTES,
            new NoPrefixKeyStateEncoderSpec(BYTES),
            false,
            conf,
            hadoop.value().value(),
            false,
            Option.empty());
    StateStore store;
    try {
      store = getStore.apply(provider);
    } catch (Throwable e) {
      provider.close();
      throw e;
    }
    return opened(
        store,
        id(operator, partition).toString(),
        () -> {
          try {
            giveUp(store);
          } finally {
            provider.close();
          }
        });
  }

  private static OpenState opened(StateStore store, String name, Runnable end) {
    return store instanceof RocksDBStateStoreProvider.RocksDBStateStore rocks
        ? new Rocks(store, name, end, rocks.dbInstance())
        : new Heap(store, name, end);
  }

  /** A store in RocksDB, past Spark's rows: it reads and writes bytes anyway. */
  private static final class Rocks extends Opened {
    private final RocksDB database;

    Rocks(StateStore store, String name, Runnable end, RocksDB database) {
      super(store, name, end);
      this.database = database;
    }

    @Override
    public byte[] get(byte[] key) {
      return database.get(key, FAMILY);
    }

    @Override
    public void put(byte[] key, byte[] value) {
      database.put(key, value, FAMILY, false, false, false);
    }

    @Override
    public void remove(byte[] key) {
      database.remove(key, FAMILY, false, false, false);
    }

    @Override
    public Iterator<StateEntry> entries(byte[] prefix) {
      return Mapped.of(
          CollectionConverters.asJava(database.prefixScan(prefix, FAMILY)),
          pair -> new StateEntry(pair.key(), pair.value()));
    }
  }

  /** Any other store of Spark's. */
  private static final class Heap extends Opened {
    private final RowWriter writer = RowWriter.of(BYTES);

    private SortedKeys keys;

    Heap(StateStore store, String name, Runnable end) {
      super(store, name, end);
      keys = SortedKeys.take(name, store.version());
    }

    private UnsafeRow rowOf(byte[] bytes) {
      return writer.write(new GenericInternalRow(new Object[] {bytes})).copy();
    }

    @Override
    public byte[] get(byte[] key) {
      UnsafeRow value = store.get(rowOf(key), FAMILY);
      return value == null ? null : value.getBinary(0);
    }

    @Override
    public void put(byte[] key, byte[] value) {
      store.put(rowOf(key), rowOf(value), FAMILY);
      if (keys != null) {
        keys.add(key);
      }
    }

    @Override
    public void remove(byte[] key) {
      store.remove(rowOf(key), FAMILY);
      if (keys != null) {
        keys.remove(key);
      }
    }

    @Override
    public Iterator<StateEntry> entries(byte[] prefix) {
      if (keys == null) {
        keys = new SortedKeys();
        CollectionConverters.asJava(store.iterator(FAMILY))
            .forEachRemaining(pair -> keys.add(pair.key().getBinary(0)));
      }
      return Mapped.of(keys.from(prefix).iterator(), key -> new StateEntry(key, get(key)));
    }

    @Override
    public void commit() {
      super.commit();
      if (keys != null) {
        keys.keep(name(), version() + 1);
      }
    }
  }

  private abstract static class Opened implements OpenState {
    protected final StateStore store;
    private final String name;
    private final Runnable end;
    private boolean isClosed;
    private StateStoreMetrics measured;

    Opened(StateStore store, String name, Runnable end) {
      this.store = store;
      this.name = name;
      this.end = end;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public long version() {
      return store.version();
    }

    @Override
    public void commit() {
      store.commit();
      measured = store.metrics();
    }

    @Override
    public void close() {
      if (!isClosed) {
        isClosed = true;
        end.run();
      }
    }

    @Override
    public long size() {
      return measured.numKeys();
    }

    @Override
    public long bytes() {
      return measured.memoryUsedBytes();
    }
  }
}
