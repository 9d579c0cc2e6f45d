package weft.kernel.change;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

/**
 * What tells where transactions end.
 *
 * @param table the number of the table whose rows are transactions
 * @param topics the topic of each table, by which an end counts its changes
 */
record Boundaries(int table, List<String> topics) implements Serializable {
  private static final String MISSING =
      "it names no transaction, and only whole ones are shown; set provide.transaction.metadata in"
          + " the connector";

  /** A number alone is PostgreSQL's own, which an event has without the metadata too. */
  private static final String NUMBER = "^[0-9]+$";

  /** What a plan says of them, or null where it takes changes as they come. */
  static Boundaries of(JsonNode spec) {
    JsonNode held = spec.get("held");
    if (held == null || held.isNull()) {
      return null;
    }
    List<String> topics = new ArrayList<>();
    held.get("topics").forEach(topic -> topics.add(topic.textValue()));
    return new Boundaries(held.get("table").intValue(), List.copyOf(topics));
  }

  /** Why a change is a dead letter: what is known already, or that it is of no transaction. */
  Column judged(Column failed) {
    Column named = functions.col("_change.transaction");
    Column op = functions.col("_change.op");
    Column isStrange =
        op.isNotNull()
            .and(functions.col("_change.snapshot").isNull())
            .and(named.isNull().or(named.rlike(NUMBER)));
    Column missing = functions.when(isStrange, functions.lit(MISSING));
    Column known = failed == null ? functions.lit(null).cast(DataTypes.StringType) : failed;
    return functions.when(op.isin("d", "t"), missing).otherwise(functions.coalesce(missing, known));
  }

  /**
   * The name of a transaction, the same in all of its events: PostgreSQL's connector writes the
   * place of each behind its number, as in 755:24241568.
   */
  static byte[] nameOf(byte[] id) {
    int colon = -1;
    for (int at = 0; id != null && at < id.length; at++) {
      boolean isDigit = id[at] >= '0' && id[at] <= '9';
      if (id[at] == ':' && at > 0 && colon < 0) {
        colon = at;
      } else if (!isDigit) {
        return id;
      }
    }
    return colon < 0 ? id : Arrays.copyOf(id, colon);
  }

  /** The number of the table that a collection of the database is, or -1 for none of these. */
  int tableOf(String collection) {
    for (int each = 0; each < topics.size(); each++) {
      String topic = topics.get(each);
      if (topic.equals(collection) || topic.endsWith("." + collection)) {
        return each;
      }
    }
    return -1;
  }
}
