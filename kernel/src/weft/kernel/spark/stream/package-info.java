/**
 * The source {@code weft-stream}: a stream's table as a streaming source of Spark's.
 *
 * <p>{@link weft.kernel.spark.stream.StreamProvider} is what Spark looks up, {@link
 * weft.kernel.spark.stream.StreamSource} what it asks for batches. Which knots they have is decided
 * in {@code weft.kernel.stream}; here they become a plan over {@link
 * weft.kernel.spark.stream.KnotFiles}, and offsets a {@link weft.kernel.spark.stream.SparkOffset}.
 */
package weft.kernel.spark.stream;
