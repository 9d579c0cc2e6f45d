package weft.kernel.sink;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import weft.kernel.json.Json;
import weft.kernel.spark.FileRows;
import weft.kernel.spark.FrameRows;

/**
 * A topic as the sink in Python uses it, from the driver. Every spec says {@code topic}, {@code
 * client} (the settings) and {@code claim} (the name of the sink's present hold on the topic).
 */
public final class KafkaTopic {
  private KafkaTopic() {}

  /**
   * Makes the topic if it is not there.
   *
   * @param specJson with {@code settings} and {@code partitions}, none for as the servers say
   */
  public static void create(String specJson) {
    ObjectNode spec = Json.parseObject(specJson);
    SlotAddress address = SlotAddress.parse(spec, "");
    int partitions = spec.required("partitions").asInt();
    Map<String, String> settings = new HashMap<>();
    spec.required("settings")
        .properties()
        .forEach(setting -> settings.put(setting.getKey(), setting.getValue().asText()));
    try (Admin admin = Admin.create(address.settings(Map.of()))) {
      if (!admin.listTopics().names().get().contains(address.topic())) {
        NewTopic topic =
            new NewTopic(
                address.topic(),
                partitions < 1 ? Optional.empty() : Optional.of(partitions),
                Optional.empty());
        admin.createTopics(List.of(topic.configs(settings))).all().get();
      }
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof TopicExistsException)) {
        throw new UnsentException(e);
      }
    } catch (KafkaException | InterruptedException e) {
      throw new UnsentException(e);
    }
  }

  /**
   * Shuts out whoever wrote through some slots before, and reads how far they have come.
   *
   * @param specJson with {@code ids}, the names of the slots
   */
  public static String claim(String specJson) {
    ObjectNode spec = Json.parseObject(specJson);
    ArrayNode positions = Json.array();
    try {
      for (JsonNode id : spec.required("ids")) {
        Sender sender = Sender.open(SlotAddress.parse(spec, id.asText()));
        Senders.keep(sender);
        positions.add(sender.position().toJson());
      }
    } catch (KafkaException e) {
      throw new UnsentException(e);
    }
    return positions.toString();
  }

  /**
   * Writes the positions of slots that were claimed.
   *
   * @param specJson with {@code positions}, each with the {@code id} of its slot
   * @return false when another has claimed one of them meanwhile
   */
  public static boolean settle(String specJson) {
    ObjectNode spec = Json.parseObject(specJson);
    for (JsonNode position : spec.required("positions")) {
      SlotAddress address = SlotAddress.parse(spec, position.required("id").asText());
      Sender sender = Senders.take(address);
      if (sender == null) {
        return false; // what it has read may no longer be so
      }
      try {
        sender.commit(SlotPosition.parse(position));
      } catch (KafkaException e) {
        sender.close();
        if (UnsentException.isFenced(e)) {
          return false;
        }
        throw new UnsentException(e);
      }
      Senders.keep(sender);
    }
    return true;
  }

  /**
   * Sends the files of each share by a task, and tells what became of each.
   *
   * @param specJson with {@code shares} ({@code id}, {@code before}, {@code after}, {@code files}
   *     with {@code path}, {@code bytes} and {@code form}), {@code forms} (Spark's JSON of the
   *     columns that files have), {@code columns}, {@code key}, {@code retracts}, {@code until}
   */
  public static String send(SparkSession spark, String specJson) {
    ObjectNode spec = Json.parseObject(specJson);
    Outgoing outgoing = Outgoing.parse(spec);
    List<FileRows> readers = new ArrayList<>();
    for (JsonNode form : spec.required("forms")) {
      StructType stored = (StructType) DataType.fromJson(form.asText());
      readers.add(FileRows.of(spark, stored, outgoing.wanted().of(stored)));
    }
    List<SlotShare> shares = new ArrayList<>();
    spec.required("shares").forEach(share -> shares.add(SlotShare.parse(spec, share)));
    SendTask task = new SendTask(outgoing, readers);
    return told(
        JavaSparkContext.fromSparkContext(spark.sparkContext())
            .parallelize(shares, shares.size())
            .map(task)
            .collect());
  }

  /** Sends the rows of a frame as one share, which is the first of the spec. */
  public static String sendFrame(Dataset<Row> frame, String specJson) {
    ObjectNode spec = Json.parseObject(specJson);
    Outgoing outgoing = Outgoing.parse(spec);
    SlotShare share = SlotShare.parse(spec, spec.required("shares").get(0));
    StructType type = frame.schema();
    return told(
        FrameRows.of(frame.coalesce(1))
            .collect(
                (Integer index, Iterator<InternalRow> rows) ->
                    SendTask.send(share, outgoing, List.of(part(type, outgoing, rows)))));
  }

  private static Sender.RowPart part(
      StructType type, Outgoing outgoing, Iterator<InternalRow> rows) {
    return new Sender.RowPart() {
      @Override
      public RecordForm form() {
        return new RecordForm(type, outgoing.wanted());
      }

      @Override
      public Iterator<InternalRow> rows() {
        return rows;
      }
    };
  }

  private static String told(List<Sent> sent) {
    ArrayNode answers = Json.array();
    sent.forEach(one -> answers.add(one.toJson()));
    return answers.toString();
  }

  /** Closes what this process holds under a claim. */
  public static void release(String claim) {
    Senders.release(claim);
  }
}
