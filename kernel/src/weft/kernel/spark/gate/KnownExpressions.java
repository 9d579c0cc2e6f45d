package weft.kernel.spark.gate;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import weft.kernel.gate.RefusedException;

/**
 * The expressions that may stand behind the gate, as {@code expressions.txt} lists them, and what
 * guards each.
 */
final class KnownExpressions {
  static final String PLAIN = "plain";
  static final String CHEAP = "cheap";
  static final String CONDITIONAL = "conditional";
  static final String LOOP = "loop";
  static final String LOOP_KEEPING = "loop keeping";
  static final String PATTERN = "pattern";
  static final String OWN = "own";

  private static final List<String> HOMES =
      List.of("org.apache.spark.sql.catalyst.", "weft.kernel.spark.gate.");
  private static final Map<String, String> GUARDS = read();

  private KnownExpressions() {}

  /** What guards an expression; refuses one that is not known. */
  static String guard(Expression expression) {
    return find(expression)
        .orElseThrow(
            () ->
                new RefusedException(
                    "Spark's expression " + name(expression) + " is not one that may run here."));
  }

  /** What guards an expression, if it is known. */
  static Optional<String> find(Expression expression) {
    String home = expression.getClass().getName();
    return HOMES.stream().anyMatch(home::startsWith)
        ? Optional.ofNullable(GUARDS.get(name(expression)))
        : Optional.empty();
  }

  /** The class of an expression, or the method that it calls. */
  static String name(Expression expression) {
    if (expression instanceof StaticInvoke call) {
      return simple(call.staticObject()) + "." + call.functionName();
    }
    if (expression instanceof Invoke call) {
      Object target = call.targetObject() instanceof Literal literal ? literal.value() : null;
      return (target == null ? "UTF8String" : simple(target.getClass()))
          + "."
          + call.functionName();
    }
    return simple(expression.getClass());
  }

  private static String simple(Class<?> type) {
    return type.getSimpleName().replace("$", "");
  }

  private static Map<String, String> read() {
    Map<String, String> guards = new HashMap<>();
    String guard = null;
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                Objects.requireNonNull(
                    KnownExpressions.class.getResourceAsStream("expressions.txt")),
                StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.isEmpty() || line.startsWith("#")) {
          continue;
        }
        if (Character.isLowerCase(line.charAt(0))) {
          guard = line;
          continue;
        }
        for (String name : line.split(" ")) {
          guards.put(name, guard);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return guards;
  }
}
