package weft.kernel;

/** Throws checked exceptions through Scala interfaces, whose Java signatures declare none. */
final class Sneaky {
  private Sneaky() {}

  /** Never returns; declared to, so that callers can write {@code throw raise(e)}. */
  static RuntimeException raise(Throwable error) {
    return Sneaky.<RuntimeException>rethrow(error);
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> RuntimeException rethrow(Throwable error) throws E {
    throw (E) error;
  }
}
