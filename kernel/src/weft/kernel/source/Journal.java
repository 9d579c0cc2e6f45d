package weft.kernel.source;

/** The journal of a source that Python reads: it writes the next segment when it is asked to. */
public interface Journal {
  /** The number of the segment behind this one, which is then there; this one if there is none. */
  long next(long after);

  /** Everything up to this segment was read for good. */
  void committed(long number);

  /** Nobody will ask any longer. */
  void close();
}
