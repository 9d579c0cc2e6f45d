package weft.kernel.spark.gate;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.CommonExpressionDef;
import org.apache.spark.sql.catalyst.expressions.CommonExpressionId;
import org.apache.spark.sql.catalyst.expressions.CommonExpressionRef;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.With;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Values under names, computed once, and a body that uses them.
 *
 * <p>Spark writes these out in full inside of conditional expressions, so that each nesting doubles
 * them.
 */
final class Let extends Staged {
  private static final long serialVersionUID = 1L;

  private final List<CommonExpressionId> names;

  private Let(List<Expression> bodyAndValues, List<CommonExpressionId> names) {
    super(bodyAndValues);
    this.names = names;
  }

  static Let of(With with) {
    List<Expression> bodyAndValues = new ArrayList<>(List.of(with.child()));
    List<CommonExpressionId> names = new ArrayList<>();
    for (CommonExpressionDef definition : CollectionConverters.asJava(with.defs())) {
      bodyAndValues.add(definition.child());
      names.add(definition.id());
    }
    return new Let(bodyAndValues, names);
  }

  @Override
  Stages stage() {
    List<Held> held = new ArrayList<>();
    Map<CommonExpressionId, Expression> standing = new HashMap<>();
    List<Expression> values = parts().subList(1, parts().size());
    for (int at = 0; at < values.size(); at++) {
      held.add(new Held(values.get(at)));
      standing.put(names.get(at), held.get(at));
    }
    Expression body =
        Trees.mapped(
            part(0),
            each ->
                each instanceof CommonExpressionRef name
                    ? standing.getOrDefault(name.id(), each)
                    : each);
    return new Stages(values, held, body, false);
  }

  @Override
  Expression over(List<Expression> others) {
    return new Let(others, names);
  }

  @Override
  Object mark() {
    return names;
  }

  @Override
  public String prettyName() {
    return "weft_let";
  }
}
