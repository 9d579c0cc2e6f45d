package weft.kernel.gate;

/**
 * An expression that the gate does not let through: one that it does not know, or a pattern that it
 * cannot run.
 */
public final class RefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public RefusedException(String message) {
    super(message);
  }
}
