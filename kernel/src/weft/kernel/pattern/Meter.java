package weft.kernel.pattern;

/** Takes note of the work that matching is; may throw when it is too much. */
@FunctionalInterface
public interface Meter {
  void work(long units);
}
