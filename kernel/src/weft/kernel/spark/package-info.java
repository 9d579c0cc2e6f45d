/**
 * What Spark does not promise to keep. A new version of Spark touches this folder and no other.
 *
 * <p>Here are adapters, each with an interface that names nothing internal: {@link
 * weft.kernel.spark.FrameRows} runs a task over a frame's own rows, {@link
 * weft.kernel.spark.FrameCode} what was planned for one batch over those of the next, whose rows
 * are in a {@link weft.kernel.spark.BatchFrame}, of {@link weft.kernel.spark.KnownFiles} if they
 * lie in files; {@link weft.kernel.spark.Exchange} takes what tasks send to those of a next step,
 * which have {@link weft.kernel.spark.OpenState} in {@link weft.kernel.spark.StateStores}; {@link
 * weft.kernel.spark.Catalyst} makes columns; {@link
 * weft.kernel.spark.RowWriter}, {@link weft.kernel.spark.RowBytes}, {@link
 * weft.kernel.spark.RowOrder}, {@link weft.kernel.spark.ValueHash} and {@link
 * weft.kernel.spark.DateText} are what Spark does to rows and values; {@link
 * weft.kernel.spark.ParquetFiles} writes files, {@link weft.kernel.spark.ParquetRows} the rows in
 * them, and {@link weft.kernel.spark.StoredFolder} reads them in tasks; {@link
 * weft.kernel.spark.Sessions} asks a session; {@link weft.kernel.spark.LocalCheckpoints} keeps
 * Spark's own files, those of an object store by {@link weft.kernel.spark.ObjectCheckpoints}.
 *
 * <p>Two packages are Spark extensions as a whole: {@code spark.gate}, whose expressions stand in
 * Spark's trees and know its classes by name, and {@code spark.stream}, the source of a stream.
 *
 * <p>Outside remains the form of a row in memory: {@code InternalRow}, {@code UnsafeRow}, the
 * arrays and maps in them, {@code UTF8String}, {@code Platform}. Sources, gate, windows, hashes and
 * spine read and write it for every record, where an adapter would cost as much as the work; it has
 * kept its names since Spark 2. {@code tests/unit/test_kernel_rooms.py} lists these classes and
 * holds every import to the list. Spark's public interfaces are used everywhere.
 */
package weft.kernel.spark;
