package weft.kernel.pattern;

/**
 * A pattern that cannot be matched in linear time, or is none; the message is a clause that says
 * why.
 */
public final class PatternException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  PatternException(String reason) {
    super(reason);
  }
}
