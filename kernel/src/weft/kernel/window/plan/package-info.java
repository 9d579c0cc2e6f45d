/**
 * Windows and deduplication, put together as operators.
 *
 * <p>Python attaches {@link weft.kernel.window.plan.Panes}, also over the two {@link
 * weft.kernel.window.plan.Sides} of a join, or {@link weft.kernel.window.plan.Dedupe}. Both use the
 * parts in {@link weft.kernel.window.plan.BucketPlan}; rows become messages to buckets in a {@link
 * weft.kernel.window.plan.Slicer} or a {@link weft.kernel.window.plan.Shipper}. Arguments that may
 * fail are {@link weft.kernel.window.plan.Tries}, and who fails is a {@link
 * weft.kernel.window.plan.DeadRow}. {@link weft.kernel.window.plan.StateView} reads the state of a
 * checkpoint as a table.
 */
package weft.kernel.window.plan;
