package weft.kernel.source;

/**
 * Why a record cannot be taken, in words for its dead letter. Without a stack trace: bad records
 * may be many.
 */
final class BadRecord extends Exception {
  private static final int SHOWN = 60;

  private final String path;
  private final String reason;

  BadRecord(String reason) {
    this("", reason);
  }

  private BadRecord(String path, String reason) {
    super(path.isEmpty() ? reason : "column '" + path + "': " + reason, null, false, false);
    this.path = path;
    this.reason = reason;
  }

  /** A value that is not of the type declared. */
  static BadRecord expected(String type, String found) {
    return new BadRecord("expected " + type + ", found " + shorten(found));
  }

  /** A number that the type declared cannot hold. */
  static BadRecord outOfRange(String type, String found) {
    return new BadRecord(shorten(found) + " is out of range for " + type);
  }

  /**
   * The same reason, said of a column or of a part of it; an element's name is its number in
   * brackets.
   */
  BadRecord in(String name) {
    return new BadRecord(
        path.isEmpty() || path.startsWith("[") ? name + path : name + "." + path, reason);
  }

  /** The same reason with advice behind it. */
  BadRecord hint(String advice) {
    return new BadRecord(path, reason + "; " + advice);
  }

  private static String shorten(String text) {
    String line = text.replaceAll("\\p{Cntrl}", "?");
    return line.codePointCount(0, line.length()) <= SHOWN
        ? line
        : line.substring(0, line.offsetByCodePoints(0, SHOWN)) + "…";
  }
}
