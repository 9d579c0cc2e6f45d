package weft.kernel.source;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/**
 * One JSON object that should be an event, with its parts found and not yet read: either the event
 * itself, or the {@code schema} and {@code payload} around it, or a row that was unwrapped.
 *
 * <p>Members may come in any order; of those that are there twice, the last counts.
 */
final class Envelope {
  /** What Debezium puts before the names of what it adds to an unwrapped row. */
  private static final String ADDED = "__";

  private final Origin origin = new Origin();
  private Span schema;
  private Span payload;
  private Span before;
  private Span after;
  private Span whole;
  private String op;
  private String addedOp;
  private String deleted;
  private String status;
  private boolean hasPayload;
  private boolean hasOp;
  private boolean changesSchema;

  /** Whether it is a row even where nothing says so. */
  private final boolean isRow;

  private Envelope(boolean isRow) {
    this.isRow = isRow;
  }

  /**
   * Find the parts of the object that a parser stands on.
   *
   * @param first where in the record the parser began
   * @param told what the record tells
   */
  static Envelope scan(JsonParser json, int first, Told told) throws IOException, BadRecord {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      throw BadRecord.expected("a change event, which is an object", JsonValues.found(json));
    }
    Envelope found = new Envelope(told == Told.ROWS);
    int start = (int) json.currentTokenLocation().getByteOffset();
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      json.nextToken();
      found.take(name, json, first);
    }
    found.whole = new Span(first + start, first + (int) json.currentLocation().getByteOffset());
    return found;
  }

  /** The text of the value that a parser stands on, which is passed; null if it has none. */
  static String scalar(JsonParser json) throws IOException {
    boolean hasText =
        json.currentToken().isScalarValue() && json.currentToken() != JsonToken.VALUE_NULL;
    String text = hasText ? json.getText() : null;
    json.skipChildren();
    return text;
  }

  private void take(String name, JsonParser json, int first) throws IOException {
    if (name.startsWith(ADDED)) {
      takeAdded(name.substring(ADDED.length()), scalar(json));
    } else if (isRow && !isWrapping(name, json)) {
      json.skipChildren();
    } else {
      takePart(name, json, first);
    }
  }

  /** Whether a member can be of what is around a row, and is no column whatever its name. */
  private static boolean isWrapping(String name, JsonParser json) {
    return name.equals("payload")
        || name.equals("schema") && json.currentToken() == JsonToken.START_OBJECT;
  }

  private void takePart(String name, JsonParser json, int first) throws IOException {
    switch (name) {
      case "schema" -> schema = Span.pass(json, first);
      case "payload" -> {
        payload = Span.pass(json, first);
        hasPayload = true;
      }
      case "before" -> before = Span.pass(json, first);
      case "after" -> after = Span.pass(json, first);
      case "source" -> origin.readSource(json);
      case "transaction" -> origin.readTransaction(json);
      case "op" -> {
        op = scalar(json);
        hasOp = true;
      }
      case "ts_us", "ts_ns", "ts_ms" -> origin.addEvent(name, scalar(json));
      case "status" -> status = scalar(json);
      case "ddl", "tableChanges" -> {
        changesSchema = true;
        json.skipChildren();
      }
      default -> json.skipChildren();
    }
  }

  private void takeAdded(String name, String text) {
    switch (name) {
      case "op" -> addedOp = text;
      case "deleted" -> deleted = text;
      case "ts_us", "ts_ns", "ts_ms" -> origin.addEvent(name, text);
      case "transaction_id" -> origin.addTransaction(text);
      default -> origin.addSource(name.startsWith("source_") ? name.substring(7) : name, text);
    }
  }

  /** Whether it is no event and has one as its payload. */
  boolean isWrapper() {
    return hasPayload && !hasOp && !isMarked() && !(isRow && schema == null);
  }

  /** Whether it says what it is with the marks of a row that was unwrapped. */
  private boolean isMarked() {
    return addedOp != null || deleted != null;
  }

  private boolean isUnwrapped() {
    return isRow || isMarked();
  }

  Span schema() {
    return schema;
  }

  Span payload() {
    return payload;
  }

  Origin origin() {
    return origin;
  }

  /** What happened to the row: one of c, u, d, r and t. */
  String op() throws BadRecord {
    String said = isUnwrapped() ? unwrappedOp() : op;
    if (said == null) {
      throw new BadRecord(whatElse());
    }
    return switch (said) {
      case "c", "u", "d", "r", "t" -> said;
      case "m" -> throw new BadRecord("it is a logical message and no change of a row");
      default -> throw BadRecord.expected("op c, u, d, r or t", TextValues.quote(said));
    };
  }

  /** A transaction is a row as well: its beginning makes it, its end changes it. */
  String boundaryOp() throws BadRecord {
    if (op != null || !isBoundary()) {
      throw new BadRecord("it is neither the BEGIN nor the END of a transaction");
    }
    return status.equals("BEGIN") ? "c" : "u";
  }

  private boolean isBoundary() {
    return "BEGIN".equals(status) || "END".equals(status);
  }

  /** All of the object. */
  Span whole() {
    return whole;
  }

  /**
   * An unwrapped row that only says that it is not deleted was made or changed: either is u. One
   * that does not say even that is of a topic whose deletions are records without a value.
   */
  private String unwrappedOp() throws BadRecord {
    if ("true".equals(deleted)) {
      return "d";
    } else if (deleted == null && !isRow && !"d".equals(addedOp)) {
      throw new BadRecord(
          "it was unwrapped and has no __deleted, so that deletions are records without a value;"
              + " give the table `unwrapped: true`");
    }
    return addedOp == null ? "u" : addedOp;
  }

  private String whatElse() {
    if (changesSchema) {
      return "it is a change of a table's schema and no change of a row";
    } else if (isBoundary()) {
      return "it is the " + status + " of a transaction and no change of a row";
    } else if (hasOp || before != null || after != null) {
      return "it has no op, which says what happened to the row";
    }
    return "it is no change event: it has no op; if ExtractNewRecordState has unwrapped the rows of"
        + " its topic, give the table `unwrapped: true`";
  }

  /** Where the row is that the operation is about. */
  Span row(String op) throws BadRecord {
    if (isUnwrapped()) {
      return whole;
    }
    Span row = op.equals("d") ? before : after;
    if (row == null) {
      String side = op.equals("d") ? "before" : "after";
      throw new BadRecord("its op is " + op + ", and it has no " + side);
    }
    return row;
  }
}
