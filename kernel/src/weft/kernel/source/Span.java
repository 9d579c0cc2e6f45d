package weft.kernel.source;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Arrays;

/**
 * Where in a record's bytes a JSON value stands.
 *
 * @param start its first byte
 * @param end the byte after its last
 */
record Span(int start, int end) {
  /**
   * The value that a parser stands on, which is passed; null for JSON's null.
   *
   * @param first where in the record the parser began
   */
  static Span pass(JsonParser json, int first) throws IOException {
    if (json.currentToken() == JsonToken.VALUE_NULL) {
      return null;
    }
    long start = json.currentTokenLocation().getByteOffset();
    json.skipChildren();
    json.finishToken();
    return new Span(first + (int) start, first + (int) json.currentLocation().getByteOffset());
  }

  int length() {
    return end - start;
  }

  /** Whether the bytes of a record here are these. */
  boolean holds(byte[] value, byte[] bytes) {
    return Arrays.equals(value, start, end, bytes, 0, bytes.length);
  }

  byte[] of(byte[] value) {
    return Arrays.copyOfRange(value, start, end);
  }

  /** A parser that stands on the value. */
  JsonParser open(byte[] value) throws IOException {
    JsonParser json = JsonRecords.FACTORY.createParser(value, start, length());
    json.nextToken();
    return json;
  }
}
