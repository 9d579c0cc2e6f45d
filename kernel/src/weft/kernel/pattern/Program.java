package weft.kernel.pattern;

import java.util.ArrayList;
import java.util.List;

/**
 * A pattern as instructions, of which several threads may stand at different ones at the same
 * character.
 */
final class Program {
  static final int ONE = 0;
  static final int SPLIT = 1;
  static final int JUMP = 2;
  static final int SAVE = 3;
  static final int ANCHOR = 4;
  static final int MATCH = 5;
  private static final int MAX_SIZE = 5_000;

  private final List<int[]> code = new ArrayList<>();
  private final List<Object> things = new ArrayList<>();

  final int[] operation;
  final int[] first;
  final int[] second;
  final Object[] thing;
  final int slots;

  Program(Part root, int groups) {
    emit(new Part.Capture(root, 0));
    add(MATCH, null);
    int size = code.size();
    operation = new int[size];
    first = new int[size];
    second = new int[size];
    for (int at = 0; at < size; at++) {
      operation[at] = code.get(at)[0];
      first[at] = code.get(at)[1];
      second[at] = code.get(at)[2];
    }
    thing = things.toArray();
    slots = 2 * (groups + 1);
  }

  int size() {
    return operation.length;
  }

  CharSet set(int at) {
    return (CharSet) thing[at];
  }

  Assertion assertion(int at) {
    return (Assertion) thing[at];
  }

  private int add(int kind, Object about) {
    if (code.size() >= MAX_SIZE) {
      throw new PatternException(
          "it has more than " + MAX_SIZE + " places when its repetitions are written out");
    }
    code.add(new int[] {kind, code.size() + 1, code.size() + 1});
    things.add(about);
    return code.size() - 1;
  }

  private void emit(Part part) {
    if (part instanceof Part.One one) {
      add(ONE, one.set());
    } else if (part instanceof Part.Anchor anchor) {
      add(ANCHOR, anchor.assertion());
    } else if (part instanceof Part.Capture capture) {
      code.get(add(SAVE, null))[1] = 2 * capture.number();
      emit(capture.body());
      code.get(add(SAVE, null))[1] = 2 * capture.number() + 1;
    } else if (part instanceof Part.Sequence sequence) {
      sequence.parts().forEach(this::emit);
    } else if (part instanceof Part.Choice choice) {
      emitChoice(choice.parts());
    } else if (part instanceof Part.Repeat repeat) {
      emitRepeat(repeat);
    }
  }

  private void emitChoice(List<Part> parts) {
    List<Integer> ends = new ArrayList<>();
    for (int part = 0; part < parts.size() - 1; part++) {
      int split = add(SPLIT, null);
      emit(parts.get(part));
      ends.add(add(JUMP, null));
      code.get(split)[2] = code.size();
    }
    emit(parts.get(parts.size() - 1));
    ends.forEach(end -> code.get(end)[1] = code.size());
  }

  /** A repetition written out: what is needed, then what is possible. */
  private void emitRepeat(Part.Repeat repeat) {
    boolean isEndless = repeat.most() < 0;
    int needed = isEndless && repeat.least() > 0 ? repeat.least() - 1 : repeat.least();
    for (int round = 0; round < needed; round++) {
      emit(repeat.body());
    }
    List<Integer> exits = new ArrayList<>();
    if (!isEndless) {
      for (int round = repeat.least(); round < repeat.most(); round++) {
        exits.add(add(SPLIT, null));
        emit(repeat.body());
      }
    } else {
      if (repeat.least() == 0) {
        exits.add(add(SPLIT, null));
      }
      int start = code.size();
      emit(repeat.body());
      int again = add(SPLIT, null);
      code.get(again)[repeat.isGreedy() ? 1 : 2] = start;
    }
    for (int exit : exits) {
      code.get(exit)[2] = code.size();
      if (!repeat.isGreedy()) {
        code.get(exit)[2] = code.get(exit)[1];
        code.get(exit)[1] = code.size();
      }
    }
  }
}
