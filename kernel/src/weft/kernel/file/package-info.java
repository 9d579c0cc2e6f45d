/**
 * Files on local disks that are there whole or not at all.
 *
 * <p>Read {@link weft.kernel.file.DurableFile} first: how a file is written, synced and published.
 * {@link weft.kernel.file.ContentSum} notes a checksum beside it, {@link
 * weft.kernel.file.LocalPath} says which of Hadoop's paths are local, and {@link
 * weft.kernel.file.LocalFiles} is Hadoop's local file system without what makes it slow.
 */
package weft.kernel.file;
