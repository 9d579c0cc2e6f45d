package weft.kernel.spark.gate;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import scala.jdk.javaapi.CollectionConverters;
import weft.kernel.gate.Budget;
import weft.kernel.gate.Model;

/** A call whose result, or whose work, is charged to the record before it is computed. */
final class Metered extends Staged {
  private static final long serialVersionUID = 1L;

  private final Model model;
  private final String name;
  private transient Object[] constants;
  private transient int[] places;
  private transient List<DataType> types;

  private Metered(Expression call, Model model, String name) {
    super(List.of(call));
    this.model = model;
    this.name = name;
  }

  /**
   * The call under this model. One of constants is hidden from Spark, which would compute it ahead
   * of its guard.
   */
  static Metered of(Expression call, Model model) {
    boolean isHidden = false;
    List<Expression> arguments = new ArrayList<>(CollectionConverters.asJava(call.children()));
    if (call.foldable() && !arguments.isEmpty()) {
      // The first argument of a struct is the name of its first field, which Spark must see.
      int hidden = call instanceof CreateNamedStruct ? 1 : 0;
      arguments.set(hidden, new Opaque(arguments.get(hidden)));
      isHidden = true;
    }
    return new Metered(
        isHidden ? call.withNewChildren(seq(arguments)) : call, model, KnownExpressions.name(call));
  }

  Expression call() {
    return part(0);
  }

  /** Whether Spark has left the call in its place, and not what it found to be the same. */
  boolean isIntact() {
    return KnownExpressions.name(part(0)).equals(name);
  }

  @Override
  Stages stage() {
    Expression call = part(0);
    List<Expression> first = new ArrayList<>();
    List<Held> held = new ArrayList<>();
    List<Expression> arguments = new ArrayList<>();
    List<Expression> given = CollectionConverters.asJava(call.children());
    constants = new Object[given.size()];
    places = new int[given.size()];
    types = given.stream().map(Expression::dataType).toList();
    for (int at = 0; at < constants.length; at++) {
      Expression argument = given.get(at) instanceof Opaque opaque ? opaque.part(0) : given.get(at);
      if (argument.foldable()) {
        // Functions make better code for literals, and some need them.
        constants[at] = argument.eval(null);
        arguments.add(argument);
      } else {
        places[first.size()] = at;
        first.add(argument);
        held.add(new Held(argument));
        arguments.add(held.get(held.size() - 1));
      }
    }
    Expression body = first.isEmpty() ? call : call.withNewChildren(seq(arguments));
    return new Stages(first, held, body, call.nullIntolerant());
  }

  @Override
  boolean looks() {
    return true;
  }

  @Override
  public void look(Object[] values) {
    stages();
    Object[] all = constants.clone();
    for (int at = 0; at < values.length; at++) {
      all[places[at]] = values[at];
    }
    model.charge(new Model.Arguments(part(0)::dataType, types, all), Budget.current());
  }

  @Override
  Expression over(List<Expression> others) {
    return new Metered(others.get(0), model, name);
  }

  @Override
  Object mark() {
    return model;
  }

  @Override
  public String prettyName() {
    return "weft_metered";
  }
}
