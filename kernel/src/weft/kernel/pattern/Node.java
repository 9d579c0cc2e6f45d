package weft.kernel.pattern;

import java.util.List;

/** A part of a pattern. */
sealed interface Node {
  /** One character, out of a set. */
  record One(CharSet set) implements Node {}

  /** A place between characters. */
  record Place(Assertion assertion) implements Node {}

  /** A part whose place in the text is remembered under a number. */
  record Group(Node body, int number) implements Node {}

  /** Parts one after the other; none match nothing. */
  record Sequence(List<Node> parts) implements Node {}

  /** Parts of which the first that fits is taken. */
  record Choice(List<Node> parts) implements Node {}

  /**
   * A part over and over, as often as possible or as rarely; {@code most} is -1 where there is no
   * limit.
   */
  record Repeat(Node body, int least, int most, boolean isGreedy) implements Node {}

  /** Whether it can match no characters at all. */
  default boolean isNullable() {
    if (this instanceof One) {
      return false;
    }
    if (this instanceof Group group) {
      return group.body.isNullable();
    }
    if (this instanceof Sequence sequence) {
      return sequence.parts.stream().allMatch(Node::isNullable);
    }
    if (this instanceof Choice choice) {
      return choice.parts.stream().anyMatch(Node::isNullable);
    }
    return !(this instanceof Repeat repeat) || repeat.least == 0 || repeat.body.isNullable();
  }
}
