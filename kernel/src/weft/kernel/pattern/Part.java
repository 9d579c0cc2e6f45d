package weft.kernel.pattern;

import java.util.List;

/** A part of a pattern. */
sealed interface Part {
  /** One character, out of a set. */
  record One(CharSet set) implements Part {}

  /** A place between characters. */
  record Anchor(Assertion assertion) implements Part {}

  /** A part whose place in the text is remembered under a number. */
  record Capture(Part body, int number) implements Part {}

  /** Parts one after the other; none match nothing. */
  record Sequence(List<Part> parts) implements Part {}

  /** Parts of which the first that fits is taken. */
  record Choice(List<Part> parts) implements Part {}

  /**
   * A part over and over, as often as possible or as rarely; {@code most} is -1 where there is no
   * limit.
   */
  record Repeat(Part body, int least, int most, boolean isGreedy) implements Part {}

  /** Whether it can match no characters at all. */
  default boolean isNullable() {
    if (this instanceof One) {
      return false;
    }
    if (this instanceof Capture capture) {
      return capture.body.isNullable();
    }
    if (this instanceof Sequence sequence) {
      return sequence.parts.stream().allMatch(Part::isNullable);
    }
    if (this instanceof Choice choice) {
      return choice.parts.stream().anyMatch(Part::isNullable);
    }
    return !(this instanceof Repeat repeat) || repeat.least == 0 || repeat.body.isNullable();
  }
}
