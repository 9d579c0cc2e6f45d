package weft.kernel.gate;

/**
 * A record for which an expression would make or do too much. It carries no stack: every row may
 * raise one.
 */
public final class TooMuchException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public TooMuchException(String message) {
    super(message, null, false, false);
  }
}
