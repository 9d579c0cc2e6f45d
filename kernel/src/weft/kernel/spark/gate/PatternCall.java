package weft.kernel.spark.gate;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Like;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.jdk.javaapi.CollectionConverters;
import weft.kernel.gate.Budget;
import weft.kernel.gate.RefusedException;
import weft.kernel.pattern.PatternException;

/**
 * A function of Spark's that takes a pattern, matched in linear time. Patterns are constants; the
 * rest is computed.
 */
public final class PatternCall extends GateExpression {
  private static final long serialVersionUID = 1L;

  /**
   * The names of parameters of addresses, which Spark puts into a pattern of its own as they are.
   */
  private static final Pattern PLAIN_KEY = Pattern.compile("[A-Za-z0-9_-]*");

  private final PatternFunction function;
  private final String[] patterns;
  private final DataType type;
  private transient PatternFunction.Ready ready;

  private PatternCall(
      PatternFunction function, String[] patterns, DataType type, List<Expression> arguments) {
    super(arguments);
    this.function = function;
    this.patterns = patterns;
    this.type = type;
  }

  /**
   * The call in the place of Spark's own; refuses a pattern that is not constant, or that cannot be
   * run.
   */
  static Expression of(Expression spark) {
    PatternFunction function = PatternFunction.of(spark);
    List<Expression> arguments = new ArrayList<>();
    List<String> patterns = new ArrayList<>();
    List<Expression> children = CollectionConverters.asJava(spark.children());
    for (int at = 0; at < children.size(); at++) {
      if (function.takesPattern(at)) {
        patterns.add(constant(children.get(at)));
      } else {
        arguments.add(children.get(at));
      }
    }
    if (spark instanceof Like like) {
      patterns.add(String.valueOf(like.escapeChar()));
    }
    if (patterns.contains(null)) {
      // A pattern that is null makes all of it null, whatever else there is.
      return spark;
    }
    PatternCall call =
        new PatternCall(function, patterns.toArray(new String[0]), spark.dataType(), arguments);
    call.ready();
    return call;
  }

  private static String constant(Expression pattern) {
    if (!pattern.foldable()) {
      throw new RefusedException("A pattern must be written out.");
    }
    Object value = pattern.eval(null);
    return value == null ? null : value.toString();
  }

  /** Refuses to look for a parameter of an address by a name that is a pattern. */
  static void refuseKey(Expression parse) {
    List<Expression> children = CollectionConverters.asJava(parse.children());
    if (children.size() > 3) {
      String key = constant(children.get(3));
      if (key != null && !PLAIN_KEY.matcher(key).matches()) {
        throw new RefusedException("The key '" + key + "' of an address is not plain.");
      }
    }
  }

  private PatternFunction.Ready ready() {
    if (ready == null) {
      try {
        ready = function.prepare(patterns);
      } catch (PatternException e) {
        throw new RefusedException(
            "The pattern '" + patterns[0] + "' is refused: " + e.getMessage() + ".");
      }
    }
    return ready;
  }

  @Override
  public DataType dataType() {
    return type;
  }

  @Override
  public boolean nullable() {
    return parts().stream().anyMatch(Expression::nullable);
  }

  @Override
  public Object eval(InternalRow input) {
    Object[] values = new Object[parts().size()];
    for (int at = 0; at < values.length; at++) {
      values[at] = part(at).eval(input);
      if (values[at] == null) {
        return null;
      }
    }
    return call(values);
  }

  /** The result for arguments of which none is null; called by generated code. */
  public Object call(Object[] values) {
    return ready().call(values, Budget.current());
  }

  /** The same where it only says yes or no. */
  public boolean test(UTF8String text) {
    return ready().test(text, Budget.current());
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    String self = context.addReferenceObj("pattern", this, PatternCall.class.getName());
    List<String> values = new ArrayList<>();
    List<ExprCode> codes = parts().stream().map(part -> part.genCode(context)).toList();
    codes.forEach(code -> values.add("(Object) (" + code.value() + ")"));
    String boxed = CodeGenerator.boxedType(type);
    String call =
        function.isTest()
            ? "%s.test(%s)".formatted(self, codes.get(0).value())
            : "(%s) %s.call(new Object[] {%s})".formatted(boxed, self, String.join(", ", values));
    String inside = "%s = false;\n%s = %s;\n".formatted(result.isNull(), result.value(), call);
    for (int at = codes.size() - 1; at >= 0; at--) {
      ExprCode code = codes.get(at);
      inside = "%s\nif (!%s) {\n%s}\n".formatted(code.code(), code.isNull(), inside);
    }
    String declared =
        "boolean %s = true;\n%s %s = %s;\n"
            .formatted(
                result.isNull(),
                CodeGenerator.javaType(type),
                result.value(),
                CodeGenerator.defaultValue(type, false));
    return result.copy(code(declared + inside), result.isNull(), result.value());
  }

  @Override
  Expression over(List<Expression> others) {
    return new PatternCall(function, patterns, type, others);
  }

  @Override
  Object mark() {
    return function + String.join("\0", patterns) + type;
  }

  @Override
  public String prettyName() {
    return "weft_pattern";
  }
}
