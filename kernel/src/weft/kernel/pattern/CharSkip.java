package weft.kernel.pattern;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;

/** Skips the characters that no match can begin with. */
final class CharSkip {
  /** Skips nothing. */
  static final CharSkip NONE = new CharSkip();

  private final Set<CharSet> firsts = new HashSet<>();
  private final boolean isIdle;
  private final boolean isAnchored;
  private final boolean[] begins = new boolean[128];

  CharSkip(Program program) {
    Deque<Integer> waiting = new ArrayDeque<>();
    Set<Integer> seen = new HashSet<>();
    waiting.add(0);
    boolean needsCharacter = true;
    boolean needsBeginning = true;
    boolean hasBeginning = false;
    while (!waiting.isEmpty()) {
      int at = waiting.pop();
      if (!seen.add(at)) {
        continue;
      }
      switch (program.operation[at]) {
        case Program.ONE -> {
          firsts.add(program.set(at));
          needsBeginning = false;
        }
        case Program.SPLIT -> {
          waiting.add(program.first[at]);
          waiting.add(program.second[at]);
        }
        case Program.JUMP -> waiting.add(program.first[at]);
        case Program.SAVE -> waiting.add(at + 1);
        default -> {
          // A match, or a place that may be anywhere: the end of a text has no character.
          boolean isBeginning =
              program.operation[at] == Program.ANCHOR && program.assertion(at) == Assertion.BEGIN;
          hasBeginning |= isBeginning;
          needsBeginning &= isBeginning;
          needsCharacter &= isBeginning;
        }
      }
    }
    isAnchored = needsBeginning;
    isIdle = !needsCharacter || hasBeginning;
    for (int character = 0; character < begins.length; character++) {
      begins[character] = has(character);
    }
  }

  private CharSkip() {
    this.isIdle = true;
    this.isAnchored = false;
  }

  /**
   * The next place at which a match can begin in a text that is searched from a place on, or -1.
   */
  int from(String text, int from, int start) {
    if (isAnchored && start != from) {
      return -1;
    }
    if (isIdle) {
      return start;
    }
    for (int at = start; at < text.length(); at++) {
      char sign = text.charAt(at);
      if (sign < begins.length ? begins[sign] : begins(text, at)) {
        return at;
      }
    }
    return -1;
  }

  private boolean begins(String text, int at) {
    return !Character.isLowSurrogate(text.charAt(at)) && has(text.codePointAt(at));
  }

  private boolean has(int character) {
    return firsts.stream().anyMatch(set -> set.has(character));
  }
}
