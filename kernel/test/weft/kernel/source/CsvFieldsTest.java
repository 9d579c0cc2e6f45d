package weft.kernel.source;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

/** CSV as RFC 4180 has it, with null for a value that is empty and not quoted. */
class CsvFieldsTest {
  private static void assertFields(String record, String... expected) throws BadRecord {
    assertArrayEquals(expected, CsvFields.split(record, ','));
  }

  private static void assertBad(String reason, String record) {
    BadRecord bad = assertThrows(BadRecord.class, () -> CsvFields.split(record, ','));
    assertEquals(reason, bad.getMessage());
  }

  @Test
  void cutsAtSeparators() throws BadRecord {
    assertFields("a,b c,d", "a", "b c", "d");
    assertArrayEquals(new String[] {"a,b", "c"}, CsvFields.split("a,b;c", ';'));
  }

  @Test
  void anEmptyValueIsNullUnlessItIsQuoted() throws BadRecord {
    assertFields(",\"\",", null, "", null);
    assertFields("", (String) null);
  }

  @Test
  void aQuotedValueMayHoldAnything() throws BadRecord {
    assertFields("\"a,\"\"b\"\"\r\nc\",d", "a,\"b\"\r\nc", "d");
  }

  @Test
  void aQuoteElsewhereIsACharacter() throws BadRecord {
    assertFields("a\"b\",c", "a\"b\"", "c");
  }

  @Test
  void theEndOfTheLineIsNoPartOfIt() throws BadRecord {
    assertFields("a,b\r\n", "a", "b");
    assertFields("a,\n", "a", null);
    assertFields("\"a\"\n", "a");
  }

  @Test
  void saysWhatIsWrong() {
    assertBad("a quote is not closed", "a,\"b\n");
    assertBad("a value goes on after its closing quote", "\"a\"b,c");
    assertBad("a line ends outside of quotes", "a\nb,c");
  }
}
