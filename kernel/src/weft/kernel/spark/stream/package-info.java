/**
 * What a pipeline reads, batch by batch, without a plan of Spark's.
 *
 * <p>An {@link weft.kernel.spark.stream.Intake} has several {@link
 * weft.kernel.spark.stream.Inlet}s: a {@link weft.kernel.spark.stream.TableInlet} is a stream's
 * table, whose knots {@code weft.kernel.stream} chooses, a {@link
 * weft.kernel.spark.stream.SourceInlet} a source of Spark's, and a {@link
 * weft.kernel.spark.stream.TickInlet} has batches without rows. Where each batch ends, and that it
 * has run, is in a {@link weft.kernel.spark.stream.BatchLog}.
 */
package weft.kernel.spark.stream;
