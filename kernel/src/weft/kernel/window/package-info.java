/**
 * Event-time windows and deduplication, in four steps of which each is a package.
 *
 * <ol>
 *   <li>{@code window.plan}: an operator is attached to the columns of its inputs. In each
 *       partition records are combined, and go as messages to buckets of keys.
 *   <li>{@code window.bucket}: a bucket takes the messages of a batch, knot by knot, and fires
 *       panes.
 *   <li>{@code window.state}: what a bucket remembers from batch to batch, in memory and as bytes.
 *   <li>{@code window.aggregate}: the aggregates, each with an accumulator.
 * </ol>
 *
 * <p>{@code window.time} is under all of them: the declared window, and the arithmetic of times.
 */
package weft.kernel.window;
