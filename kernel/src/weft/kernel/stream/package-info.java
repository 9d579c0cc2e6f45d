/**
 * Reading a stream knot by knot, as far as Spark has no part in it.
 *
 * <p>{@link weft.kernel.stream.StreamReader} says which knots the next batch has, from a {@link
 * weft.kernel.stream.StreamOffset} on, within {@link weft.kernel.stream.StreamOptions}; one that
 * reads again what was read before has a {@link weft.kernel.stream.StreamScript}. The input that
 * asks it is in {@code weft.kernel.spark.stream}.
 */
package weft.kernel.stream;
