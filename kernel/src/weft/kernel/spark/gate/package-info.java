/**
 * The gate: expressions that people wrote, run by Spark within limits.
 *
 * <p>{@link weft.kernel.spark.gate.Sql} parses one expression, {@link
 * weft.kernel.spark.gate.Layers} puts them around a frame. {@link
 * weft.kernel.spark.gate.KnownExpressions} knows which classes of Spark's may run, and {@link
 * weft.kernel.spark.gate.Gatekeeper} puts guards into their trees: {@link
 * weft.kernel.spark.gate.Metered}, {@link weft.kernel.spark.gate.Round}, {@link
 * weft.kernel.spark.gate.PatternCall}, {@link weft.kernel.spark.gate.Renewed} and others, all of
 * them {@link weft.kernel.spark.gate.GateExpression}s. {@link weft.kernel.spark.gate.TryValue} is
 * the SQL function around them that gives a value or a reason; {@link
 * weft.kernel.spark.gate.Functions} makes it known to a session.
 */
package weft.kernel.spark.gate;
