/**
 * A woven batch written to all its streams in one pass.
 *
 * <p>{@link weft.kernel.spine.Spine} reads what is asked, on the driver: an {@link
 * weft.kernel.spine.OutputSpec} for each stream, a {@link weft.kernel.spine.TimeSpec} for event
 * times, a {@link weft.kernel.spine.Stamp} for what every row says of its knot. {@link
 * weft.kernel.spine.SpineTask} passes over one partition, with an {@link
 * weft.kernel.spine.OutputTask} for each stream, which sums up what its {@link
 * weft.kernel.spine.WatchedColumn}s look like. Back comes a {@link
 * weft.kernel.spine.SpineReport}: an {@link weft.kernel.spine.OutputReport} for each stream and a
 * {@link weft.kernel.spine.PartitionSpan} for each source partition.
 */
package weft.kernel.spine;
