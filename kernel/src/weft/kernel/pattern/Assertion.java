package weft.kernel.pattern;

/** Places between characters, as Java's matcher knows them. */
enum Assertion {
  /** The beginning of what is searched. */
  BEGIN {
    @Override
    boolean holds(String text, int from, int at) {
      return at == from;
    }
  },
  /** The beginning of a line; there is none at the end of the text. */
  LINE_BEGIN {
    @Override
    boolean holds(String text, int from, int at) {
      if (at == text.length()) {
        return false;
      }
      return at == from
          || (isLineEnd(text.charAt(at - 1))
              && !(text.charAt(at - 1) == '\r' && text.charAt(at) == '\n'));
    }
  },
  /** The very end of the text. */
  END {
    @Override
    boolean holds(String text, int from, int at) {
      return at == text.length();
    }
  },
  /** The end of the text, or before the line end that it ends in. */
  LAST_END {
    @Override
    boolean holds(String text, int from, int at) {
      int left = text.length() - at;
      boolean isLast = left == 1 || (left == 2 && text.startsWith("\r\n", at));
      return left == 0 || (isLast && LINE_END.holds(text, from, at));
    }
  },
  /** The end of a line, or of the text. */
  LINE_END {
    @Override
    boolean holds(String text, int from, int at) {
      return at == text.length()
          || (isLineEnd(text.charAt(at))
              && !(text.charAt(at) == '\n' && at > 0 && text.charAt(at - 1) == '\r'));
    }
  },
  /** Between a word and what is none. */
  WORD_EDGE {
    @Override
    boolean holds(String text, int from, int at) {
      return Words.isBefore(text, from, at) != Words.isAt(text, from, at);
    }
  },
  /** Inside of a word, or of what is none. */
  NO_WORD_EDGE {
    @Override
    boolean holds(String text, int from, int at) {
      return !WORD_EDGE.holds(text, from, at);
    }
  };

  /** Whether a place in a text that is searched from a place on is one of these. */
  abstract boolean holds(String text, int from, int at);

  private static boolean isLineEnd(char sign) {
    return sign == '\n' || sign == '\r' || sign == '\u0085' || sign == '\u2028' || sign == '\u2029';
  }
}
