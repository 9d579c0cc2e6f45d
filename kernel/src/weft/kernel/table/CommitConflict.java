package weft.kernel.table;

/** Someone else wrote the version of a stream table that this writer wanted to write. */
public final class CommitConflict extends RuntimeException {
  private static final long serialVersionUID = 1L;

  CommitConflict(String message) {
    super(message);
  }
}
