/**
 * How records are hashed, in any order and partitioning the same.
 *
 * <p>{@link weft.kernel.hash.CanonicalForm} says which bytes a value is, {@link
 * weft.kernel.hash.RecordHash} hashes the rows of a task over them, and {@link
 * weft.kernel.hash.HashSum} adds the hashes up; {@link weft.kernel.hash.HashTree} is over those of
 * one file. The spine does that as it writes; {@link weft.kernel.hash.Fingerprints} adds up the
 * hashes of rows that lie somewhere already, by {@link weft.kernel.hash.FingerprintTask} for all of
 * them and {@link weft.kernel.hash.FileHashTask} for each file. {@link weft.kernel.hash.StepHash}
 * hashes a record between two steps, before it is a row. {@link weft.kernel.hash.MadeId} is the id
 * of a row that comes from no source.
 */
package weft.kernel.hash;
