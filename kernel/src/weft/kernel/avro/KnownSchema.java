package weft.kernel.avro;

import org.apache.avro.Schema;

/**
 * What a registry has said of a number: a schema, or why there is none.
 *
 * @param schema the schema, or null
 * @param head what stands before the payload of its events in JSON
 * @param bad why there is none, or null
 * @param asked when it was asked for, in nanoseconds
 */
record KnownSchema(Schema schema, byte[] head, String bad, long asked) {
  static KnownSchema of(Schema schema) {
    return new KnownSchema(schema, AvroEvents.head(schema), null, System.nanoTime());
  }

  static KnownSchema missing(String why) {
    return new KnownSchema(null, null, why, System.nanoTime());
  }

  /** Whether it may be otherwise by now: a schema stays, and one that is missing may come. */
  boolean isStale(long after) {
    return bad != null && System.nanoTime() - asked > after;
  }
}
