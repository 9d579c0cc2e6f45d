/**
 * Rows go out: the files of a knot are sent to Kafka by tasks on executors, exactly once.
 *
 * <ol>
 *   <li>{@link weft.kernel.sink.KafkaTopic}: what the sink in Python asks for.
 *   <li>{@link weft.kernel.sink.SendTask}: one slot's share of a knot, in one transaction;
 *       {@link weft.kernel.sink.Sender}: the producer of a slot, kept from knot to knot.
 *   <li>{@link weft.kernel.sink.RecordForm}: the message that a row becomes; {@link
 *       weft.kernel.sink.JsonForm}: the JSON in it.
 * </ol>
 *
 * <p>Where a slot stands is kept by Kafka, as the offset of a group that nobody joins, and moves in
 * the transaction that holds the records ({@link weft.kernel.sink.SlotPosition}).
 */
package weft.kernel.sink;
