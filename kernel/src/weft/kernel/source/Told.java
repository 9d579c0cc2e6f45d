package weft.kernel.source;

import java.util.Locale;

/** What the records of a topic of Debezium's tell. */
enum Told {
  /** Changes of rows, each with its op; a row that was unwrapped says its own. */
  CHANGES,
  /** Rows that were unwrapped, whatever they say beside their columns. */
  ROWS,
  /** Beginnings and ends of transactions. */
  TRANSACTIONS;

  static Told named(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT));
  }
}
