package weft.kernel.source;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Parses records that are Debezium's change events: the row after the change, or the key of the row
 * that is gone, and in the last column what happened to it.
 *
 * <p>An event is taken with its {@code schema} around it or without, or as a row that was unwrapped
 * and says whether it is deleted. A schema is written into every event and is as good as always the
 * same: what stands before the payload is compared with that of the last event byte by byte, and
 * read when it differs.
 */
final class DebeziumRecords extends RecordParser {
  private final StructType table;
  private final int[] keys;
  private final Epoch times;
  private final Told told;

  private transient EventRow plain;

  /** What stood before the payload of the last event that had a schema. */
  private transient byte[] head;

  private transient byte[] schema;
  private transient EventRow described;

  /**
   * @param schema the declared columns, and the change as the last one
   * @param keys the names of those that are the key
   * @param times what numbers in timestamp columns count where no schema says it
   * @param told what the records tell
   */
  DebeziumRecords(StructType schema, List<String> keys, Epoch times, Told told) {
    super(schema, null);
    this.table = new StructType(Arrays.copyOf(schema.fields(), schema.size() - 1));
    this.keys = keys.stream().mapToInt(table::fieldIndex).toArray();
    this.times = times;
    this.told = told;
  }

  @Override
  InternalRow read(byte[] value, UTF8String header) throws BadRecord {
    if (plain == null) {
      plain = new EventRow(table, keys, null, times);
    }
    try {
      Envelope known = scanBehindHead(value);
      if (known != null) {
        return row(value, known, described);
      }
      Envelope event = (Envelope) JsonRecords.whole(value, json -> Envelope.scan(json, 0, told));
      if (!event.isWrapper()) {
        return row(value, event, plain);
      }
      if (event.payload() == null) {
        throw new BadRecord("it has a schema and no payload, as the mark of a deleted key has");
      }
      EventRow rows = told == Told.TRANSACTIONS ? plain : rows(value, event);
      return row(value, payload(value, event), rows);
    } catch (IOException e) {
      throw JsonRecords.notJson(e);
    }
  }

  /** The event behind the same bytes as the last one, or null where they or its end differ. */
  private Envelope scanBehindHead(byte[] value) throws IOException, BadRecord {
    int start = head == null ? value.length : head.length;
    if (start + 1 >= value.length || !Arrays.equals(value, 0, start, head, 0, start)) {
      return null;
    }
    if (value[start] != '{' || value[start + 1] == 0) {
      return null;
    }
    try (JsonParser json = new Span(start, value.length).open(value)) {
      Envelope event = Envelope.scan(json, start, told);
      return ends(value, start + (int) json.currentLocation().getByteOffset()) ? event : null;
    } catch (JsonProcessingException broken) { // the whole of it is scanned for the right place
      return null;
    }
  }

  /** Whether nothing but the end of the object around the payload comes from here on. */
  private static boolean ends(byte[] value, int from) {
    boolean closed = false;
    for (int i = from; i < value.length; i++) {
      if (value[i] == '}' && !closed) {
        closed = true;
      } else if (value[i] != ' ' && value[i] != '\n' && value[i] != '\r' && value[i] != '\t') {
        return false;
      }
    }
    return closed;
  }

  private Envelope payload(byte[] value, Envelope wrapper) throws IOException, BadRecord {
    Span payload = wrapper.payload();
    try (JsonParser json = payload.open(value)) {
      return Envelope.scan(json, payload.start(), told);
    }
  }

  /** How the rows of a table are read of which an event has the schema. */
  private EventRow rows(byte[] value, Envelope wrapper) throws IOException {
    Span written = wrapper.schema();
    if (written == null) {
      return plain;
    }
    if (schema == null || !written.holds(value, schema)) {
      head = null;
      try (JsonParser json = written.open(value)) {
        ConnectType type = ConnectType.read(json);
        boolean isOfEvents = type != null && told == Told.CHANGES;
        described = new EventRow(table, keys, isOfEvents ? type.row() : type, times);
      }
      schema = written.of(value);
    }
    int start = wrapper.payload().start();
    head = written.end() <= start ? Arrays.copyOf(value, start) : null;
    return described;
  }

  private InternalRow row(byte[] value, Envelope event, EventRow rows)
      throws IOException, BadRecord {
    boolean isBoundary = told == Told.TRANSACTIONS;
    String op = isBoundary ? event.boundaryOp() : event.op();
    Object[] columns =
        switch (op) {
          case "t" -> rows.none();
          case "d" -> rows.readKey(value, event.row(op));
          default -> rows.read(value, isBoundary ? event.whole() : event.row(op));
        };
    UTF8String[] kept = takeKept(columns, rows);
    Object[] all = Arrays.copyOf(columns, columns.length + 1);
    all[columns.length] = change(op, event.origin(), kept);
    return new GenericInternalRow(all);
  }

  /** The names of the columns that are kept as they were, which become null; null if none are. */
  private static UTF8String[] takeKept(Object[] columns, EventRow rows) {
    List<UTF8String> kept = null;
    for (int i = 0; i < columns.length; i++) {
      if (columns[i] == Unavailable.KEPT) {
        kept = kept == null ? new ArrayList<>() : kept;
        kept.add(UTF8String.fromString(rows.name(i)));
        columns[i] = null;
      }
    }
    return kept == null ? null : kept.toArray(new UTF8String[0]);
  }

  /** The column {@code _change}, in the order of its fields. */
  private static InternalRow change(String op, Origin origin, UTF8String[] kept) {
    Object[] change = {
      UTF8String.fromString(op),
      UTF8String.fromString(origin.position()),
      origin.micros(),
      UTF8String.fromString(origin.transaction()),
      UTF8String.fromString(origin.snapshot()),
      kept == null ? null : new GenericArrayData(kept)
    };
    return new GenericInternalRow(change);
  }
}
