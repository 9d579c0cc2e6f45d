package weft.kernel.pattern;

import java.util.Arrays;

/**
 * Runs a program over a text, all of its threads at once, character by character: at most one
 * thread stands at each instruction, so the time is the length of the text times the size of the
 * program. Threads are in the order in which a backtracking matcher would try them, so what it
 * finds is what that would have found first. Used by one thread at a time.
 */
final class Machine {
  private static final int STEPS_PER_CHARGE = 1 << 14;

  private final Program program;
  private final int slots;
  private final Threads[] lists = new Threads[2];
  private final int[] places;
  private final int[] stack;
  private int[] found;
  private long steps;

  /**
   * A machine that remembers so many places: none to know whether there is a match, two to know
   * where.
   */
  Machine(Program program, int slots) {
    this.program = program;
    this.slots = slots;
    this.places = new int[slots];
    this.stack = new int[3 * program.size() + 1];
    for (int at = 0; at < lists.length; at++) {
      lists[at] = new Threads(program.size(), slots);
    }
  }

  /**
   * Whether threads that wait at these instructions, or new ones, match in what is left of a text.
   */
  boolean test(int[] threads, String text, int start) {
    Threads current = lists[0].cleared();
    for (int at : threads) {
      current.isNew(at);
      current.keep(at, places);
    }
    return search(current, text, 0, start, CharSkip.NONE, null) != null;
  }

  /**
   * The places of the first match at or after {@code start}, or null; the text is searched from a
   * place on.
   */
  int[] find(String text, int from, int start, CharSkip skip, Meter meter) {
    return search(lists[0].cleared(), text, from, start, skip, meter);
  }

  private int[] search(
      Threads waiting, String text, int from, int start, CharSkip skip, Meter meter) {
    Threads current = waiting;
    Threads next = lists[1].cleared();
    found = null;
    steps = 0;
    int at = start;
    while (true) {
      if (current.count == 0) {
        at = found == null ? skip.from(text, from, at) : -1;
        if (at < 0) {
          break;
        }
      }
      if (found == null) {
        Arrays.fill(places, -1);
        add(current, 0, text, from, at);
      }
      int character = at < text.length() ? text.codePointAt(at) : -1;
      int after = character < 0 ? at : at + Character.charCount(character);
      step(current, next, text, from, after, character);
      if (character < 0 || (slots == 0 && found != null)) {
        break;
      }
      at = after;
      Threads done = current.cleared();
      current = next;
      next = done;
      if (steps > STEPS_PER_CHARGE) {
        charge(meter);
      }
    }
    steps += (at < 0 ? text.length() : at) - start;
    charge(meter);
    return found;
  }

  private void charge(Meter meter) {
    if (meter != null) {
      meter.work(steps);
    }
    steps = 0;
  }

  /** Moves the threads that take a character; one that has matched ends those after it. */
  private void step(
      Threads current, Threads next, String text, int from, int after, int character) {
    steps += current.count;
    for (int number = 0; number < current.count; number++) {
      int at = current.at[number];
      if (program.operation[at] == Program.MATCH) {
        found = current.places(number);
        return;
      }
      if (character >= 0 && program.set(at).has(character)) {
        System.arraycopy(current.kept, number * slots, places, 0, slots);
        add(next, at + 1, text, from, after);
      }
    }
  }

  /**
   * Adds a thread, and all that it becomes before it takes a character, in the order in which they
   * are tried.
   */
  private void add(Threads list, int start, String text, int from, int at) {
    int top = 0;
    stack[top++] = start;
    while (top > 0) {
      int entry = stack[--top];
      if (entry < 0) {
        places[-entry - 1] = stack[--top];
        continue;
      }
      while (entry >= 0 && list.isNew(entry)) {
        steps++;
        switch (program.operation[entry]) {
          case Program.JUMP -> entry = program.first[entry];
          case Program.SPLIT -> {
            stack[top++] = program.second[entry];
            entry = program.first[entry];
          }
          case Program.SAVE -> {
            int slot = program.first[entry];
            if (slot < slots) {
              stack[top++] = places[slot];
              stack[top++] = -slot - 1;
              places[slot] = at;
            }
            entry++;
          }
          case Program.ANCHOR ->
              entry = program.assertion(entry).holds(text, from, at) ? entry + 1 : -1;
          default -> {
            list.keep(entry, places);
            entry = -1;
          }
        }
      }
    }
  }

  /** Threads at one character: where each stands, and the places that it remembers. */
  private static final class Threads {
    private final int[] seen;
    private final int[] at;
    private final int[] kept;
    private final int slots;
    private int count;
    private int round = 1;

    Threads(int size, int slots) {
      this.seen = new int[size];
      this.at = new int[size];
      this.kept = new int[size * slots];
      this.slots = slots;
    }

    Threads cleared() {
      count = 0;
      if (++round < 0) {
        Arrays.fill(seen, 0);
        round = 1;
      }
      return this;
    }

    boolean isNew(int instruction) {
      if (seen[instruction] == round) {
        return false;
      }
      seen[instruction] = round;
      return true;
    }

    void keep(int instruction, int[] places) {
      System.arraycopy(places, 0, kept, count * slots, slots);
      at[count++] = instruction;
    }

    int[] places(int number) {
      return Arrays.copyOfRange(kept, number * slots, (number + 1) * slots);
    }
  }
}
