package weft.kernel.sink;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * One life of the transactional producer of a slot, and the position that it has committed.
 *
 * <p>Opening it ends the transaction of an earlier one of the same id and shuts that one out: only
 * then is the position that Kafka keeps final.
 */
final class Sender {
  private static final long MOST_WAITING = 16L << 20;
  private static final Duration CLOSING = Duration.ofMillis(500);

  /** What the user's settings may override. */
  private static final Map<String, Object> DEFAULTS =
      Map.of(
          ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, "120000",
          ProducerConfig.LINGER_MS_CONFIG, "5",
          ProducerConfig.BATCH_SIZE_CONFIG, "131072",
          ProducerConfig.COMPRESSION_TYPE_CONFIG, "zstd",
          // The quickest of its levels: cores are dearer here than bytes.
          ProducerConfig.COMPRESSION_ZSTD_LEVEL_CONFIG, "1");

  final SlotAddress address;
  private final KafkaProducer<byte[], byte[]> producer;
  private final AtomicLong waiting = new AtomicLong();
  private final Duration longest;
  private volatile Exception refusal;
  private SlotPosition position;
  private Progress progress;
  private int partitions;

  private Sender(SlotAddress address) {
    this.address = address;
    Map<String, Object> settings = address.settings(DEFAULTS);
    settings.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, address.id());
    if (!choosesPartitions()) {
      settings.put(ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG, "true");
    }
    String timeout = settings.get(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG).toString();
    longest = Duration.ofMillis(Long.parseLong(timeout));
    producer =
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** Shuts out whoever wrote before, and reads how far the slot has come. */
  static Sender open(SlotAddress address) {
    Sender sender = new Sender(address);
    try {
      sender.producer.initTransactions();
      sender.position = sender.committed();
      return sender;
    } catch (KafkaException e) {
      sender.close();
      throw e;
    }
  }

  SlotPosition position() {
    return position;
  }

  private boolean choosesPartitions() {
    return address.client().containsKey(ProducerConfig.PARTITIONER_CLASS_CONFIG);
  }

  private SlotPosition committed() {
    ListConsumerGroupOffsetsSpec asked =
        new ListConsumerGroupOffsetsSpec().topicPartitions(List.of(address.place()));
    try (Admin admin = Admin.create(address.settings(Map.of()))) {
      return SlotPosition.of(
          admin
              .listConsumerGroupOffsets(
                  Map.of(address.id(), asked),
                  new ListConsumerGroupOffsetsOptions().requireStable(true))
              .partitionsToOffsetAndMetadata(address.id())
              .get()
              .get(address.place()));
    } catch (ExecutionException e) {
      throw new KafkaException(UnsentException.reason(e), e.getCause());
    } catch (InterruptedException e) {
      throw new org.apache.kafka.common.errors.InterruptException(e);
    }
  }

  /** Commits a position alone. */
  void commit(SlotPosition next) {
    producer.beginTransaction();
    finish(next);
  }

  /**
   * Sends a share in one transaction, with the position after it.
   *
   * @return false when Kafka takes so long that the task should end; the transaction stays open,
   *     and the same call goes on with it
   */
  boolean send(SlotPosition after, Outgoing outgoing, Iterable<RowPart> parts) {
    Patience patience = new Patience();
    if (progress == null || !progress.after.equals(after)) {
      partitions = choosesPartitions() ? 0 : producer.partitionsFor(address.topic()).size();
      producer.beginTransaction();
      progress = new Progress(after);
    } else if (!isTaken(patience, MOST_WAITING / 2)) {
      return false;
    }
    if (!progress.isRead) {
      progress.isRead = pass(outgoing, parts, patience);
    }
    if (!progress.isRead || !isTaken(patience, 0)) {
      return false;
    }
    finish(after);
    return true;
  }

  /** Some rows of one form. */
  interface RowPart {
    RecordForm form();

    Iterator<InternalRow> rows();
  }

  private boolean pass(Outgoing outgoing, Iterable<RowPart> parts, Patience patience) {
    long passed = 0;
    for (RowPart part : parts) {
      RecordForm form = part.form();
      for (Iterator<InternalRow> rows = part.rows(); rows.hasNext(); passed++) {
        InternalRow row = rows.next();
        if (passed < progress.rows) {
          continue;
        }
        if (waiting.get() > MOST_WAITING && !isTaken(patience, MOST_WAITING / 2)) {
          return false;
        }
        if (form.read(row)) {
          send(outgoing.message(form, progress, partitions));
        }
        progress.rows++;
      }
    }
    return true;
  }

  private void send(ProducerRecord<byte[], byte[]> message) {
    if (message == null) {
      return;
    }
    long size = size(message.key()) + size(message.value());
    waiting.addAndGet(size);
    producer.send(
        message,
        (taken, error) -> {
          if (error != null) {
            refusal = error;
          }
          waiting.addAndGet(-size);
        });
  }

  private static long size(byte[] bytes) {
    return bytes == null ? 0 : bytes.length;
  }

  /** Waits until Kafka has taken all but so many bytes. */
  private boolean isTaken(Patience patience, long most) {
    boolean isTaken = patience.await(() -> waiting.get() <= most || refusal != null);
    if (refusal != null) {
      throw new KafkaException(UnsentException.reason(refusal), refusal);
    }
    if (!isTaken && progress.isOlderThan(longest)) {
      // The client itself waits for a coordinator that is away for as long as it is.
      throw new KafkaException("the records were not taken within " + longest.toSeconds() + " s");
    }
    return isTaken;
  }

  private void finish(SlotPosition next) {
    producer.sendOffsetsToTransaction(
        Map.of(address.place(), next.toOffset()), new ConsumerGroupMetadata(address.id()));
    producer.commitTransaction();
    position = next;
    progress = null;
  }

  /** Disconnects; a transaction that is open is left to its end by the next one of this id. */
  void close() {
    producer.close(progress == null ? CLOSING : Duration.ZERO);
  }
}
