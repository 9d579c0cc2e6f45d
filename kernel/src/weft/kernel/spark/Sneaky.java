package weft.kernel.spark;

/** Throws checked exceptions through Scala interfaces, whose Java signatures declare none. */
public final class Sneaky {
  private Sneaky() {}

  /** Never returns; declared to, so that callers can write {@code throw raise(e)}. */
  public static RuntimeException raise(Throwable error) {
    return Sneaky.<RuntimeException>rethrow(error);
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> RuntimeException rethrow(Throwable error) throws E {
    throw (E) error;
  }
}
