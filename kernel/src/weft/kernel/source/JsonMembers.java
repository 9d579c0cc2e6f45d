package weft.kernel.source;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Reads the members of JSON objects that are columns.
 *
 * <p>A member is a column when its name is the column's. Where there is none of that name, one
 * whose name differs by its case alone is; it is kept as text until the object has ended, since the
 * right one may yet come.
 */
final class JsonMembers {
  private static final int NONE = -1;

  /** Enough for every schema; records whose names never repeat must not fill the heap. */
  private static final int MOST_OTHERS = 1000;

  private final String[] names;
  private final JsonValue[] readers;
  private final Map<String, Integer> exact = new HashMap<>();
  private final Map<String, Integer> similar = new HashMap<>();

  /** Names that were seen and are no column's own, so that each is spelled in lower case once. */
  private final Map<String, Integer> others = new HashMap<>();

  JsonMembers(StructType type) {
    this(type.fieldNames(), readers(type.fields()));
  }

  /** The members of these names, each read by the reader at the same place. */
  JsonMembers(String[] names, JsonValue[] readers) {
    this.names = names;
    this.readers = readers;
    for (int i = 0; i < names.length; i++) {
      exact.put(names[i], i);
      similar.putIfAbsent(lower(names[i]), i);
    }
  }

  private static JsonValue[] readers(StructField[] fields) {
    JsonValue[] readers = new JsonValue[fields.length];
    for (int i = 0; i < fields.length; i++) {
      readers[i] = JsonValues.reader(fields[i].dataType());
    }
    return readers;
  }

  private static String lower(String name) {
    return name.toLowerCase(Locale.ROOT);
  }

  /** The column whose name differs from this by its case alone, or {@link #NONE}. */
  private int similar(String name) {
    Integer known = others.get(name);
    if (known != null) {
      return known;
    }
    int place = similar.getOrDefault(lower(name), NONE);
    if (others.size() < MOST_OTHERS) {
      others.put(name, place);
    }
    return place;
  }

  InternalRow read(JsonParser json) throws IOException, BadRecord {
    return new GenericInternalRow(values(json));
  }

  /** The values of the members in the order of their names, null for those that are missing. */
  Object[] values(JsonParser json) throws IOException, BadRecord {
    Object[] values = new Object[readers.length];
    boolean[] found = new boolean[readers.length];
    String[] texts = null;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      Integer own = exact.get(name);
      json.nextToken();
      if (own != null) {
        values[own] = read(own, json);
        found[own] = true;
        continue;
      }
      int place = similar(name);
      if (place == NONE || found[place]) {
        json.skipChildren();
      } else {
        texts = texts == null ? new String[readers.length] : texts;
        texts[place] = JsonValues.text(json);
      }
    }
    for (int place = 0; texts != null && place < texts.length; place++) {
      if (texts[place] != null && !found[place]) {
        try (JsonParser text = JsonRecords.FACTORY.createParser(texts[place])) {
          text.nextToken();
          values[place] = read(place, text);
        }
      }
    }
    return values;
  }

  private Object read(int place, JsonParser json) throws IOException, BadRecord {
    try {
      return readers[place].read(json);
    } catch (BadRecord bad) {
      throw bad.in(names[place]);
    }
  }
}
