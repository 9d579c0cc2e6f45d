/**
 * The source {@code weft-stream}: a stream's table as a streaming source of Spark's.
 *
 * <p>{@link weft.kernel.spark.stream.StreamProvider} is what Spark looks up, {@link
 * weft.kernel.spark.stream.StreamSource} what it asks for batches. Which knots they have is decided
 * in {@code weft.kernel.stream}; offsets become a {@link weft.kernel.spark.stream.SparkOffset}. For
 * Spark batches have no rows: {@link weft.kernel.spark.stream.OpenStreams} gives them to whoever
 * runs one.
 */
package weft.kernel.spark.stream;
