package weft.kernel.source;

/** Knows which files there are, and how far they were read: Python follows them in the driver. */
public interface FileFollower {
  /** The offset at most so many records ahead of another, both in JSON; the same if none is new. */
  String ahead(String start, long most);

  /** The ranges of files that the tasks of a batch read, a list for each, in JSON. */
  String packs(String start, String end);
}
