package weft.kernel.sink;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/**
 * What rows become: records that are delivered, or that take earlier ones back. Of these, each key
 * gets one tombstone; without keys, each record is sent once more with a header that says so.
 *
 * @param until rows of later knots never arrived, and are not taken back
 */
record Outgoing(String topic, RecordForm.Wanted wanted, boolean isRetraction, long until)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  static Outgoing parse(JsonNode spec) {
    return new Outgoing(
        spec.required("topic").asText(),
        new RecordForm.Wanted(texts(spec.required("columns")), texts(spec.required("key"))),
        spec.required("retracts").asBoolean(),
        spec.required("until").asLong());
  }

  private static ArrayList<String> texts(JsonNode values) {
    ArrayList<String> found = new ArrayList<>();
    values.forEach(value -> found.add(value.asText()));
    return found;
  }

  /**
   * The message of a row that was read, or null when there is none.
   *
   * @param partitions how many the topic has, or none when the client chooses
   */
  ProducerRecord<byte[], byte[]> message(RecordForm row, Progress progress, int partitions) {
    if (row.knot() > until) {
      return null;
    }
    byte[] key = row.key();
    if (!isRetraction) {
      return record(key, row.value(), partitions, delivered(row));
    }
    if (key == null) {
      return record(null, row.value(), partitions, retracted(row));
    }
    return progress.retracted.add(ByteBuffer.wrap(key))
        ? record(key, null, partitions, retracted(row))
        : null;
  }

  private static List<Header> delivered(RecordForm row) {
    byte[] knot = Long.toString(row.knot()).getBytes(StandardCharsets.US_ASCII);
    return List.of(new RecordHeader("weft-id", row.id()), new RecordHeader("weft-knot", knot));
  }

  private static List<Header> retracted(RecordForm row) {
    return List.of(new RecordHeader("weft-retracts", row.id()));
  }

  private ProducerRecord<byte[], byte[]> record(
      byte[] key, byte[] value, int partitions, List<Header> headers) {
    Integer partition = key == null || key.length == 0 ? null : partition(key, partitions);
    return new ProducerRecord<>(topic, partition, key, value, headers);
  }

  /** The partition of a key, as clients choose it that are made of librdkafka. */
  private static Integer partition(byte[] key, int partitions) {
    if (partitions == 0) {
      return null;
    }
    CRC32 sum = new CRC32();
    sum.update(key, 0, key.length);
    return (int) (sum.getValue() % partitions);
  }
}
