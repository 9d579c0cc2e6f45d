package weft.kernel.operator;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import weft.kernel.bytes.Lent;
import weft.kernel.bytes.Mapped;
import weft.kernel.spark.OpenState;
import weft.kernel.spark.StateEntry;
import weft.kernel.spark.StateTask;

/** What the buckets of one partition make of a batch. */
final class Receiving implements StateTask<Message> {
  private static final long serialVersionUID = 1;

  private final Lent<Engine> engine;
  private final int buckets;
  private final int partitions;

  /** What every bucket is told, whatever it is sent. */
  private final ArrayList<byte[]> controls;

  Receiving(Lent<Engine> engine, int buckets, int partitions, List<byte[]> controls) {
    this.engine = engine;
    this.buckets = buckets;
    this.partitions = partitions;
    this.controls = new ArrayList<>(controls);
  }

  @Override
  public Iterator<Message> run(int partition, Iterator<byte[]> received, OpenState state) {
    return new Run(partition, received, state);
  }

  /** One bucket after the other, so that no more than what is sent to one is in memory. */
  private final class Run implements Iterator<Message> {
    private final Iterator<byte[]> received;
    private final OpenState state;
    private final Engine borrowed = engine.borrow();
    private Message ahead;
    private int told;
    private Iterator<Message> made = Router.NONE;
    private PartStore store;
    private boolean isOver;

    /** What is received is in the order of buckets. */
    Run(int partition, Iterator<byte[]> received, OpenState state) {
      this.received = received;
      this.state = state;
      this.told = controls.isEmpty() ? buckets : partition;
    }

    @Override
    public boolean hasNext() {
      while (!made.hasNext() && !isOver) {
        if (store != null) {
          store.end();
        }
        if (ahead == null) {
          ahead = read();
        }
        if (told < buckets) {
          made = batch(told);
          told += partitions;
        } else if (ahead != null) {
          made = batch(ahead.bucket());
        } else {
          isOver = true;
          engine.giveBack(borrowed);
        }
      }
      return made.hasNext();
    }

    private Iterator<Message> batch(int bucket) {
      store = new PartStore(bucket, state);
      Engine.Batch batch = borrowed.begin(bucket, store);
      for (byte[] control : controls) {
        batch.take(Message.of(bucket, Message.CONTROL, control));
      }
      for (; ahead != null && ahead.bucket() == bucket; ahead = read()) {
        batch.take(ahead);
      }
      return batch.end();
    }

    private Message read() {
      return received.hasNext() ? Message.read(received.next()) : null;
    }

    @Override
    public Message next() {
      return made.next();
    }
  }

  /** The part of a partition's state that is a bucket's: keys begin with its number. */
  private static final class PartStore implements BucketStore {
    private final byte[] prefix;
    private final OpenState state;
    private Warm warm;

    PartStore(int bucket, OpenState state) {
      this.prefix = ByteBuffer.allocate(Integer.BYTES).putInt(bucket).array();
      this.state = state;
    }

    private byte[] name(byte[] key) {
      byte[] name = Arrays.copyOf(prefix, prefix.length + key.length);
      System.arraycopy(key, 0, name, prefix.length, key.length);
      return name;
    }

    @Override
    public byte[] get(byte[] key) {
      return state.get(name(key));
    }

    @Override
    public void put(byte[] key, byte[] value) {
      state.put(name(key), value);
    }

    @Override
    public void remove(byte[] key) {
      state.remove(name(key));
    }

    @Override
    public Iterator<StateEntry> entries(byte[] begin) {
      int known = prefix.length + begin.length;
      return Mapped.of(
          state.entries(name(begin)),
          entry ->
              new StateEntry(
                  Arrays.copyOfRange(entry.key(), known, entry.key().length), entry.value()));
    }

    @Override
    public Warm warm() {
      if (warm == null) {
        warm = Warm.take(warmName(), state.version());
      }
      return warm;
    }

    private String warmName() {
      return state.name() + Arrays.toString(prefix);
    }

    /** What is in memory is that of the version which the batch leaves behind. */
    void end() {
      if (warm != null) {
        warm.keep(warmName(), state.version() + 1);
        warm = null;
      }
    }
  }
}
