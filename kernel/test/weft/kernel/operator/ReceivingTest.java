package weft.kernel.operator;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import weft.kernel.bytes.Lent;

class ReceivingTest {
  private static final List<String> SEEN = new ArrayList<>();

  /** Writes down what it is told, and answers with one message. */
  private static final class Witness implements Engine {
    private static final long serialVersionUID = 1;

    @Override
    public Batch begin(int bucket, BucketStore store) {
      SEEN.add("begin " + bucket);
      return new Batch() {
        @Override
        public void take(Message message) {
          SEEN.add((message.kind() == Message.CONTROL ? "control " : "take ") + message.bucket());
        }

        @Override
        public Iterator<Message> end() {
          return List.of(Message.of(bucket, Message.REPORT, new byte[0])).iterator();
        }
      };
    }
  }

  private static List<Integer> run(List<byte[]> controls, int... sent) {
    SEEN.clear();
    Receiving step = new Receiving(new Lent<>("witness", new Witness()), 6, 2, controls);
    List<byte[]> messages = new ArrayList<>();
    for (int bucket : sent) {
      messages.add(Message.of(bucket, Message.SEGMENT, new byte[0]).toBytes());
    }
    List<Integer> told = new ArrayList<>();
    Iterator<Message> made = step.run(1, messages.iterator(), null);
    while (made.hasNext()) {
      told.add(made.next().bucket());
      SEEN.add("told " + told.get(told.size() - 1));
    }
    return told;
  }

  @Test
  void everyBucketOfThePartitionIsToldOfTheBatchOneAfterTheOther() {
    assertEquals(List.of(1, 3, 5), run(List.of("{}".getBytes()), 3, 3));
    Stream<String> first = Stream.of("begin 1", "control 1", "told 1");
    Stream<String> second = Stream.of("begin 3", "control 3", "take 3", "take 3", "told 3");
    Stream<String> third = Stream.of("begin 5", "control 5", "told 5");
    assertEquals(Stream.of(first, second, third).flatMap(each -> each).toList(), SEEN);
  }

  @Test
  void aStepBehindAnotherRunsTheBucketsThatGotSomething() {
    assertEquals(List.of(1, 5), run(List.of(), 1, 5, 5));
    assertEquals(
        List.of("begin 1", "take 1", "told 1", "begin 5", "take 5", "take 5", "told 5"), SEEN);
  }
}
