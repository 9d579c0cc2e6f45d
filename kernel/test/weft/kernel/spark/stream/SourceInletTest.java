package weft.kernel.spark.stream;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** One task reads all of a batch whose offsets say that it has few records. */
class SourceInletTest {
  private static boolean isLittle(String from, String to) {
    return SourceInlet.isLittle(from.replace('\'', '"'), to.replace('\'', '"'));
  }

  @Test
  void offsetsByTopicAndPartitionCountRecords() {
    assertTrue(isLittle("{'a':{'0':10,'1':5}}", "{'a':{'0':1010,'1':1005}}"));
    assertFalse(isLittle("{'a':{'0':10,'1':5}}", "{'a':{'0':1010,'1':1006}}"));
    assertFalse(isLittle("{'a':{'0':0},'b':{'0':0}}", "{'a':{'0':1500},'b':{'0':1500}}"));
  }

  @Test
  void aPartitionOfWhichNothingIsKnownMayHaveMany() {
    assertFalse(isLittle("{'a':{'0':10}}", "{'a':{'0':11,'1':1}}"));
    assertFalse(isLittle("{}", "{'a':{'0':11}}"));
  }

  @Test
  void offsetsOfAnotherKindSayNothing() {
    assertFalse(isLittle("{'segment':1}", "{'segment':2}"));
    assertFalse(isLittle("{'a':{'0':'x'}}", "{'a':{'0':'y'}}"));
    assertFalse(isLittle("{'file':0,'line':0,'byte':0}", "{'file':1,'line':0,'byte':0}"));
  }
}
