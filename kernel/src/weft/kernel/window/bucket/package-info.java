/**
 * What buckets of keys do with windows.
 *
 * <p>There are three {@link weft.kernel.operator.Engine}s: {@link
 * weft.kernel.window.bucket.SliceEngine} with its {@link weft.kernel.window.bucket.SliceBucket},
 * where all keys of a window fire together; {@link weft.kernel.window.bucket.KeyEngine} with its
 * {@link weft.kernel.window.bucket.KeyBucket}, where each key has windows of its own; {@link
 * weft.kernel.window.bucket.DedupeEngine}. Their batches are {@link
 * weft.kernel.window.bucket.BucketBatch}es. All know one {@link
 * weft.kernel.window.bucket.WindowTask} and write {@link weft.kernel.window.bucket.PaneRow}s,
 * {@link weft.kernel.window.bucket.LateRow}s and a {@link weft.kernel.window.bucket.BucketReport}.
 */
package weft.kernel.window.bucket;
