/**
 * Events that are written in Avro, with a registry of schemas beside them, as JSON with its schema
 * around it: what every other event is read from.
 *
 * <p>{@link weft.kernel.avro.AvroEvents} reads the wire format, {@link weft.kernel.avro.Registry}
 * asks for schemas, {@link weft.kernel.avro.ConnectSchema} writes one as Kafka Connect does, and
 * {@link weft.kernel.avro.AvroValues} the values.
 */
package weft.kernel.avro;
