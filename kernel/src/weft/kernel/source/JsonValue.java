package weft.kernel.source;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;

/** Reads the value that a JSON parser stands on, of one type. */
@FunctionalInterface
interface JsonValue {
  Object read(JsonParser json) throws IOException, BadRecord;
}
