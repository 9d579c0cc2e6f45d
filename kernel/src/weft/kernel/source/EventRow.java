package weft.kernel.source;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import org.apache.spark.sql.types.StructType;

/** Reads the rows of one table from events that have the same schema, or all none. */
final class EventRow {
  private final String[] names;
  private final int[] keys;
  private final JsonMembers columns;
  private final JsonMembers keyColumns;

  /**
   * @param table the declared columns
   * @param keys the places of those that are the key
   * @param described the type of the event's rows, or null
   */
  EventRow(StructType table, int[] keys, ConnectType described, Epoch times) {
    this.names = table.fieldNames();
    this.keys = keys;
    ConnectValues values = new ConnectValues(times);
    String[] keyNames = new String[keys.length];
    for (int i = 0; i < keys.length; i++) {
      keyNames[i] = names[keys[i]];
    }
    columns = values.columns(names, table, described);
    keyColumns = values.columns(keyNames, table, described);
  }

  /** The columns of a row; those that are kept as they were are {@link Unavailable#KEPT}. */
  Object[] read(byte[] value, Span row) throws IOException, BadRecord {
    return checked(values(value, row, columns));
  }

  /**
   * The columns of a row that is gone, of which the key alone counts: unless a table logs all of
   * them, the others are made up.
   */
  Object[] readKey(byte[] value, Span row) throws IOException, BadRecord {
    Object[] found = values(value, row, keyColumns);
    Object[] all = none();
    for (int i = 0; i < keys.length; i++) {
      all[keys[i]] = found[i];
    }
    return checked(all);
  }

  /** A row without any value. */
  Object[] none() {
    return new Object[names.length];
  }

  String name(int place) {
    return names[place];
  }

  private static Object[] values(byte[] value, Span row, JsonMembers members)
      throws IOException, BadRecord {
    try (JsonParser json = row.open(value)) {
      if (json.currentToken() == JsonToken.VALUE_STRING) {
        return document(json.getText(), members);
      }
      return object(json, members);
    }
  }

  /** MongoDB's connector writes a document as the text of its JSON. */
  private static Object[] document(String text, JsonMembers members) throws IOException, BadRecord {
    try (JsonParser json = ExtendedJson.open(text)) {
      return object(json, members);
    }
  }

  private static Object[] object(JsonParser json, JsonMembers members)
      throws IOException, BadRecord {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      throw BadRecord.expected("a row, which is an object", JsonValues.found(json));
    }
    return members.values(json);
  }

  private Object[] checked(Object[] values) throws BadRecord {
    for (int key : keys) {
      if (values[key] == null || values[key] == Unavailable.KEPT) {
        throw new BadRecord("it is missing, and it is the key").in(names[key]);
      }
    }
    return values;
  }
}
