package weft.kernel.source;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Parses records that are one JSON object each. */
final class JsonRecords extends RecordParser {
  static final JsonFactory FACTORY =
      JsonFactory.builder().disable(JsonFactory.Feature.INTERN_FIELD_NAMES).build();

  private static final Pattern ADVICE = Pattern.compile(": .*|, from `[^`]*`|\\R");

  private transient JsonValue object;

  JsonRecords(StructType schema, String required) {
    super(schema, required);
  }

  @Override
  InternalRow read(byte[] value, UTF8String header) throws BadRecord {
    if (object == null) {
      object = JsonValues.object(schema());
    }
    return (InternalRow) whole(value, object);
  }

  /** What a reader makes of bytes that are one JSON value and no more. */
  static Object whole(byte[] value, JsonValue reader) throws BadRecord {
    if (value[0] == 0 || (value.length > 1 && value[1] == 0)) {
      throw new BadRecord(
          "not JSON: it begins with a NUL byte"); // the parser would take it for UTF-16
    }
    try (JsonParser json = FACTORY.createParser(value)) {
      json.nextToken();
      Object made = reader.read(json);
      if (json.nextToken() != null) {
        throw new BadRecord("not JSON: it goes on after the end of the object");
      }
      return made;
    } catch (IOException e) {
      throw notJson(e);
    }
  }

  /** Why a parser could not go on. */
  static BadRecord notJson(IOException e) {
    return new BadRecord(
        "not JSON: " + (e instanceof JsonProcessingException wrong ? plain(wrong) : e));
  }

  /** The parser's complaint without its advice to Java programmers, and where it stood. */
  private static String plain(JsonProcessingException e) {
    String complaint = ADVICE.matcher(e.getOriginalMessage()).replaceAll("");
    return e.getLocation() == null
        ? complaint
        : complaint + " at byte " + e.getLocation().getByteOffset();
  }
}
