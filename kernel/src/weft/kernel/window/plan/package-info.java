/**
 * Operators with buckets, put together on Spark.
 *
 * <p>Python attaches {@link weft.kernel.window.plan.Panes} or {@link
 * weft.kernel.window.plan.Dedupe}. Both use the parts in {@link
 * weft.kernel.window.plan.BucketPlan}: rows go through a {@link weft.kernel.window.plan.Slicer} or
 * {@link weft.kernel.window.plan.Shipper}, which address messages by {@link
 * weft.kernel.window.plan.Mail}; what the buckets answer becomes rows in an {@link
 * weft.kernel.window.plan.Unpacker}. Arguments that may fail are {@link
 * weft.kernel.window.plan.Tries}, and who fails is a {@link weft.kernel.window.plan.DeadRow}.
 * {@link weft.kernel.window.plan.StateView} reads the state of a checkpoint as a table.
 */
package weft.kernel.window.plan;
