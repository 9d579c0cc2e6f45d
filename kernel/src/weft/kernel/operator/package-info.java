/**
 * Operators with state, whatever they do: windows, deduplication, products, updating queries.
 *
 * <p>{@link weft.kernel.operator.Operator} runs an {@link weft.kernel.operator.InputBatch} of each
 * of its inputs. A {@link weft.kernel.operator.Router} makes {@link weft.kernel.operator.Message}s
 * of rows, for {@link weft.kernel.operator.Buckets} of keys ({@link weft.kernel.operator.Routing}).
 * A partition takes those of its buckets ({@link weft.kernel.operator.Receiving}) and hands them to
 * an {@link weft.kernel.operator.Engine}, which keeps what it remembers in a {@link
 * weft.kernel.operator.BucketStore}, and what it used last in memory ({@link
 * weft.kernel.operator.Warm}). What comes out at the end are {@link
 * weft.kernel.operator.ResultRows}. {@link weft.kernel.operator.StateCopy} reads state without an
 * operator, and divides it anew.
 *
 * <p>Nothing of this is planned by Spark: the code that lays the columns of an input out is
 * compiled for the first batch, and everything else is ours.
 */
package weft.kernel.operator;
