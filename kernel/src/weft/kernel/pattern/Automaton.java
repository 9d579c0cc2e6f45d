package weft.kernel.pattern;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * Says quickly whether a program matches anywhere in a text: sets of threads become states, made
 * when they are first met, and a character leads from one to the next by a look into a table. It
 * stops before the last characters of the text, where places such as its end begin to hold; a
 * {@link Machine} goes on from there.
 */
final class Automaton {
  /** Places near the end hold at most before a line end of two characters. */
  private static final int TAIL = 3;

  private static final int TABLE = 256;
  private static final int MAX_STATES = 500;

  private final Program program;
  private final Map<String, State> states = new ConcurrentHashMap<>();
  private final State start;
  private final State restart;

  /** Threads that wait for a character, and whether one has matched already. */
  static final class State {
    final int[] threads;
    final boolean isMatch;
    private final State[] next = new State[TABLE];

    State(int[] threads, boolean isMatch) {
      this.threads = threads;
      this.isMatch = isMatch;
    }
  }

  private Automaton(Program program) {
    this.program = program;
    this.start = state(new int[] {0}, true);
    this.restart = state(new int[] {0}, false);
  }

  /**
   * The automaton of a program, or null when the program asks for places that are not told from the
   * ends alone.
   */
  static Automaton of(Program program) {
    boolean isSimple =
        IntStream.range(0, program.size())
            .filter(at -> program.operation[at] == Program.ANCHOR)
            .mapToObj(program::assertion)
            .allMatch(
                each ->
                    each == Assertion.BEGIN || each == Assertion.END || each == Assertion.LAST_END);
    return isSimple ? new Automaton(program) : null;
  }

  /** Where the tail of a text begins, or 0 when it is all tail. */
  static int tail(String text) {
    int at = Math.max(text.length() - TAIL, 0);
    return at > 0 && Character.isLowSurrogate(text.charAt(at)) ? at - 1 : at;
  }

  /**
   * The state where the tail begins, or one that has matched before; null when there are too many
   * states.
   */
  State run(String text, int end) {
    State state = start;
    for (int at = 0; at < end && !state.isMatch; ) {
      int character = text.charAt(at);
      if (character < TABLE) {
        at++;
        State next = state.next[character];
        if (next == null) {
          next = after(state, character);
          state.next[character] = next;
        }
        state = next;
      } else {
        character = text.codePointAt(at);
        at += Character.charCount(character);
        state = after(state, character);
      }
      if (state == null) {
        return null;
      }
    }
    return state;
  }

  private State after(State state, int character) {
    int[] moved =
        Arrays.stream(state.threads)
            .filter(at -> program.set(at).has(character))
            .map(at -> at + 1)
            .toArray();
    if (moved.length == 0) {
      return restart;
    }
    return states.size() > MAX_STATES
        ? null
        : state(IntStream.concat(Arrays.stream(moved), IntStream.of(0)).toArray(), false);
  }

  /** The state of the threads that these become before they take a character. */
  private State state(int[] from, boolean isBeginning) {
    TreeSet<Integer> threads = new TreeSet<>();
    boolean isMatch = false;
    boolean[] seen = new boolean[program.size()];
    Deque<Integer> waiting = new ArrayDeque<>();
    Arrays.stream(from).forEach(waiting::add);
    while (!waiting.isEmpty()) {
      int at = waiting.pop();
      if (seen[at]) {
        continue;
      }
      seen[at] = true;
      switch (program.operation[at]) {
        case Program.ONE -> threads.add(at);
        case Program.MATCH -> isMatch = true;
        case Program.SPLIT -> {
          waiting.add(program.first[at]);
          waiting.add(program.second[at]);
        }
        case Program.JUMP -> waiting.add(program.first[at]);
        case Program.SAVE -> waiting.add(at + 1);
        default -> {
          if (isBeginning && program.assertion(at) == Assertion.BEGIN) {
            waiting.add(at + 1);
          }
        }
      }
    }
    State made = new State(threads.stream().mapToInt(Integer::intValue).toArray(), isMatch);
    State known = states.putIfAbsent(threads + " " + isMatch, made);
    return known == null ? made : known;
  }
}
