/**
 * The aggregates of a window.
 *
 * <p>An {@link weft.kernel.window.aggregate.Aggregate} is what was declared, and makes the {@link
 * weft.kernel.window.aggregate.Accumulator} that computes it: {@link
 * weft.kernel.window.aggregate.Count}; {@link weft.kernel.window.aggregate.WholeSum}, {@link
 * weft.kernel.window.aggregate.BigSum} and {@link weft.kernel.window.aggregate.Moments} for sums;
 * {@link weft.kernel.window.aggregate.Extreme} and {@link weft.kernel.window.aggregate.Pick} for
 * one value out of many; {@link weft.kernel.window.aggregate.Collect} for all; {@link
 * weft.kernel.window.aggregate.Distinct} and {@link weft.kernel.window.aggregate.Percentile} for
 * estimates. None depends on the order in which records come; where their own order counts, it is
 * their {@link weft.kernel.window.aggregate.Standing}.
 */
package weft.kernel.window.aggregate;
