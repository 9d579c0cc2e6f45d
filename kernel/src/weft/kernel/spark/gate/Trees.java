package weft.kernel.spark.gate;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.expressions.Expression;
import scala.jdk.javaapi.CollectionConverters;

/** Walks over trees of expressions. */
final class Trees {
  private Trees() {}

  /**
   * The tree with every node replaced, children first; what is not changed stays the same object.
   */
  static Expression mapped(Expression root, UnaryOperator<Expression> change) {
    return change.apply(over(root, child -> mapped(child, change)));
  }

  /** The same expression over its children changed, or itself when none is. */
  static Expression over(Expression root, UnaryOperator<Expression> change) {
    List<Expression> children = new ArrayList<>();
    boolean isChanged = false;
    for (Expression child : CollectionConverters.asJava(root.children())) {
      Expression changed = change.apply(child);
      isChanged |= changed != child;
      children.add(changed);
    }
    return isChanged ? root.withNewChildren(GateExpression.seq(children)) : root;
  }

  /** Whether a tree has a node of which something is true. */
  static boolean any(Expression root, Predicate<Expression> isTrue) {
    if (isTrue.test(root)) {
      return true;
    }
    for (Expression child : CollectionConverters.asJava(root.children())) {
      if (any(child, isTrue)) {
        return true;
      }
    }
    return false;
  }

  /** How many nodes a tree has. */
  static long size(Expression root) {
    long size = 1;
    for (Expression child : CollectionConverters.asJava(root.children())) {
      size += size(child);
    }
    return size;
  }
}
