package weft.kernel.pattern;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * A regular expression of Java's dialect that is matched in linear time. Safe to share between
 * threads.
 */
public final class LinearPattern {
  private static final int WHERE = 2;
  private static final int MAX_COMPILED = 200;
  private static final Map<String, LinearPattern> COMPILED = new ConcurrentHashMap<>();

  private final Program program;
  private final CharSkip skip;
  private final Automaton automaton;
  private final int groups;
  private final Map<String, Integer> names;
  private final AtomicReference<Machine> whether = new AtomicReference<>();
  private final AtomicReference<Machine> where = new AtomicReference<>();
  private final AtomicReference<Machine> whole = new AtomicReference<>();

  private LinearPattern(Syntax.Parsed parsed) {
    this.program = new Program(parsed.root(), parsed.groups());
    this.skip = new CharSkip(program);
    this.automaton = Automaton.of(program);
    this.groups = parsed.groups();
    this.names = parsed.names();
  }

  /**
   * The pattern that a text says; throws a {@link PatternException} when it is none that can be
   * run. Those in use are kept, with what their automata have learnt, since every task of every
   * batch asks for them again.
   */
  public static LinearPattern compile(String text) {
    if (COMPILED.size() > MAX_COMPILED) {
      COMPILED.clear();
    }
    return COMPILED.computeIfAbsent(text, each -> new LinearPattern(Syntax.parse(each)));
  }

  public int groups() {
    return groups;
  }

  /** The number of a group with this name, or null. */
  public Integer group(String name) {
    return names.get(name);
  }

  /** Whether it matches anywhere in a text. */
  public boolean test(String text, Meter meter) {
    int tail = Automaton.tail(text);
    Automaton.State state = automaton == null || tail == 0 ? null : automaton.run(text, tail);
    if (state == null) {
      return run(whether, 0, machine -> machine.find(text, 0, 0, skip, meter)) != null;
    }
    meter.work(text.length());
    return state.isMatch || run(whether, 0, machine -> machine.test(state.threads, text, tail));
  }

  /** Where it first matches at or after a place: the beginning and the end; or null. */
  public int[] find(String text, int from, int start, Meter meter) {
    return run(where, WHERE, machine -> machine.find(text, from, start, skip, meter));
  }

  /** The same with the places of its groups, -1 for those that took no part. */
  public int[] findGroups(String text, int from, int start, Meter meter) {
    return run(whole, program.slots, machine -> machine.find(text, from, start, skip, meter));
  }

  /** Runs a machine that an earlier run has left, or a new one. */
  private <T> T run(AtomicReference<Machine> kept, int slots, Function<Machine, T> search) {
    Machine machine = kept.getAndSet(null);
    if (machine == null) {
      machine = new Machine(program, slots);
    }
    try {
      return search.apply(machine);
    } finally {
      kept.set(machine);
    }
  }
}
