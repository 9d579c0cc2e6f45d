package weft.kernel.source;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where in a database's log a change stands, and when it was made, from what its event says of its
 * source. What an event does not say, or says in a form that is not known, is null.
 */
final class Origin {
  private static final Pattern DIGITS = Pattern.compile("[0-9]+");
  private static final Pattern PARTS =
      Pattern.compile("[0-9a-fA-F]{8}:[0-9a-fA-F]{8}:[0-9a-fA-F]{4}");
  private static final Pattern SEQUENCE =
      Pattern.compile("\\[\\s*(?:\"([0-9]+)\"|null)\\s*,\\s*(?:\"([0-9]+)\"|null)\\s*]");
  private static final List<Map.Entry<String, Epoch>> TIMES =
      List.of(
          Map.entry("ts_us", Epoch.MICROS),
          Map.entry("ts_ns", Epoch.NANOS),
          Map.entry("ts_ms", Epoch.MILLIS));

  /** What is read of a source; its statements may be long and are not. */
  private static final Set<String> WANTED =
      Set.of(
          "connector",
          "snapshot",
          "ts_us",
          "ts_ns",
          "ts_ms",
          "txId",
          "lsn",
          "sequence",
          "file",
          "pos",
          "row",
          "commit_lsn",
          "change_lsn",
          "event_serial_no",
          "scn",
          "rs_id",
          "ssn",
          "ord",
          "tord");

  /** The members of an event's {@code source}, as texts. */
  private final Map<String, String> source = new HashMap<>();

  /** The same of the event itself: when it was made from the change. */
  private final Map<String, String> event = new HashMap<>();

  private String transaction;

  /** Read an event's {@code source}, on which the parser stands. */
  void readSource(JsonParser json) throws IOException {
    if (json.currentToken() == JsonToken.START_OBJECT) {
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        json.nextToken();
        if (WANTED.contains(name)) {
          addSource(name, Envelope.scalar(json));
        } else {
          json.skipChildren();
        }
      }
    } else {
      json.skipChildren();
    }
  }

  /** Read an event's {@code transaction}, on which the parser stands. */
  void readTransaction(JsonParser json) throws IOException {
    if (json.currentToken() == JsonToken.START_OBJECT) {
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        json.nextToken();
        String text = Envelope.scalar(json);
        transaction = name.equals("id") ? text : transaction;
      }
    } else {
      json.skipChildren();
    }
  }

  /** One member of the source. */
  void addSource(String name, String text) {
    if (text != null) {
      source.put(name, text);
    }
  }

  /** One member of the event. */
  void addEvent(String name, String text) {
    if (text != null) {
      event.put(name, text);
    }
  }

  /** The transaction's name. */
  void addTransaction(String id) {
    transaction = id;
  }

  /**
   * A text whose byte order is the order of the changes of one row: of PostgreSQL the places of the
   * last commit before it and of itself, of MySQL file, position and row, of SQL Server, Db2 and
   * Informix those of the commit and of the change, of Oracle the change's number, of MongoDB its
   * time and order.
   */
  String position() {
    if (source.get("lsn") != null || isPostgresSequence()) {
      return ofPostgres();
    } else if (source.get("file") != null && source.get("pos") != null) {
      return binlog();
    } else if (source.get("commit_lsn") != null) {
      return joined(
          lsn(source.get("commit_lsn")),
          lsn(source.get("change_lsn")),
          padded(source.get("event_serial_no"), 10));
    } else if (source.get("scn") != null) {
      String set = source.getOrDefault("rs_id", "").trim();
      return joined(padded(source.get("scn"), 20), set, padded(source.get("ssn"), 10));
    } else if (source.get("ord") != null && source.get("ts_ms") != null) {
      return joined(
          padded(source.get("ts_ms"), 20),
          padded(source.get("ord"), 10),
          padded(source.get("tord"), 10));
    }
    return null;
  }

  /** When the change was made, in microseconds since 1970, or null. */
  Long micros() {
    Long micros = micros(source);
    return micros == null ? micros(event) : micros;
  }

  String transaction() {
    if (transaction != null && !transaction.isEmpty()) {
      return transaction;
    }
    boolean isPostgres = source.get("lsn") != null || isFrom("postgresql");
    return isPostgres ? source.get("txId") : null;
  }

  /** Which part of a snapshot the row is of, or null for a change. */
  String snapshot() {
    String snapshot = source.get("snapshot");
    return snapshot == null || snapshot.isEmpty() || snapshot.equals("false") ? null : snapshot;
  }

  private boolean isFrom(String connector) {
    return connector.equals(source.get("connector"));
  }

  private String binlog() {
    String file = source.get("file");
    String number = padded(file.substring(file.lastIndexOf('.') + 1), 10);
    String row = source.get("row");
    return joined(
        number == null || number.isEmpty() ? null : number,
        padded(source.get("pos"), 20),
        row == null ? "0".repeat(10) : padded(row, 10));
  }

  private boolean isPostgresSequence() {
    boolean mayBe = source.get("connector") == null || isFrom("postgresql");
    return mayBe && source.get("sequence") != null;
  }

  /**
   * The last commit that the connector had seen, then the change's own place. Its own would not do
   * beside a snapshot: a transaction that is open while a row is read has written its change before
   * the snapshot's place and commits it behind. So a row of a snapshot comes first of all behind
   * the commit. Where no commit is told, as in a first snapshot and the transaction behind it, the
   * change's own place stands for it.
   */
  private String ofPostgres() {
    Matcher told = SEQUENCE.matcher(source.getOrDefault("sequence", ""));
    boolean isTold = told.matches();
    String own = source.get("lsn") == null && isTold ? told.group(2) : source.get("lsn");
    String place = hex(own);
    String commit = isTold && told.group(1) != null ? hex(told.group(1)) : place;
    return joined(commit, snapshot() == null ? place : hex("0"));
  }

  private static String hex(String number) {
    try {
      return number == null ? null : HexFormat.of().toHexDigits(Long.parseLong(number));
    } catch (NumberFormatException unknown) {
      return null;
    }
  }

  /** A place such as 00000027:00000758:0003, whose parts have a fixed width, or a number. */
  private static String lsn(String text) {
    return text != null && PARTS.matcher(text).matches() ? text : padded(text, 20);
  }

  /** A whole number with zeros before it; nothing for null, and null for anything else. */
  private static String padded(String text, int width) {
    if (text == null) {
      return "";
    }
    boolean isNumber = text.length() <= width && DIGITS.matcher(text).matches();
    return isNumber ? "0".repeat(width - text.length()) + text : null;
  }

  private static String joined(String... parts) {
    for (String part : parts) {
      if (part == null) {
        return null;
      }
    }
    return String.join("/", parts);
  }

  /** The first of the times that is one; connectors write 0 where they know none. */
  private static Long micros(Map<String, String> said) {
    for (Map.Entry<String, Epoch> unit : TIMES) {
      Long micros = micros(said.get(unit.getKey()), unit.getValue());
      if (micros != null && micros != 0) {
        return micros;
      }
    }
    return null;
  }

  private static Long micros(String text, Epoch unit) {
    try {
      return text == null ? null : (Long) unit.micros(Long.parseLong(text));
    } catch (BadRecord | NumberFormatException unknown) {
      return null;
    }
  }
}
