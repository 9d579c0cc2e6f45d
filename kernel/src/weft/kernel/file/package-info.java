/**
 * Files that are there whole or not at all, on local disks and in object stores.
 *
 * <p>Read {@link weft.kernel.file.DurableFile} first: how a file is written, synced and published.
 * {@link weft.kernel.file.ContentSum} notes a checksum beside it, {@link
 * weft.kernel.file.LocalPath} says which of Hadoop's paths are local, and {@link
 * weft.kernel.file.LocalFiles} is Hadoop's local file system without what makes it slow. {@link
 * weft.kernel.file.ConditionalFiles} are those of an object store.
 */
package weft.kernel.file;
