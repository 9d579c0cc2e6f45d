package weft.kernel.pattern;

/**
 * What belongs to a word, for the edges of words; Java has changed its mind about letters beyond
 * ASCII.
 */
final class Words {
  private static final boolean IS_ASCII = Runtime.version().feature() >= 19;

  /**
   * Marks are looked through to the letter that they stand on, but not further: text is not made of
   * marks.
   */
  private static final int MOST_MARKS = 64;

  private Words() {}

  static boolean isBefore(String text, int from, int at) {
    return at > from && isWord(text, from, at - 1, text.codePointBefore(at));
  }

  static boolean isAt(String text, int from, int at) {
    return at < text.length() && isWord(text, from, at, text.codePointAt(at));
  }

  private static boolean isWord(String text, int from, int at, int character) {
    if (IS_ASCII) {
      return character < 128 && (character == '_' || Character.isLetterOrDigit(character));
    }
    return character == '_'
        || Character.isLetterOrDigit(character)
        || (Character.getType(character) == Character.NON_SPACING_MARK && hasBase(text, from, at));
  }

  private static boolean hasBase(String text, int from, int at) {
    for (int before = at; before >= from && before > at - MOST_MARKS; before--) {
      int character = text.codePointAt(before);
      if (Character.isLetterOrDigit(character)) {
        return true;
      }
      if (Character.getType(character) != Character.NON_SPACING_MARK) {
        return false;
      }
    }
    return false;
  }
}
