package weft.kernel.window;

/** What a bucket keeps beside its head: segments by slice and number, and numbers of panes by window and key. */
interface SliceStore {
  byte[] segment(long slice, int part);

  void keepSegment(long slice, int part, byte[] segment);

  void dropSegment(long slice, int part);

  byte[] revisions(long end);

  void keepRevisions(long end, byte[] revisions);

  void dropRevisions(long end);
}
