package weft.kernel.spark.gate;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.FalseLiteral$;
import org.apache.spark.sql.catalyst.expressions.json.StructsToJsonEvaluator;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.collection.immutable.Map$;
import weft.kernel.hash.MadeId;

/**
 * The SQL function {@code weft_made(stream, start, end, timestamp, revision, column, …)}: the id of
 * a row that an operator makes, by its window and what tells it from others in that. What is null
 * is left out.
 */
public final class MadeRowId extends GateExpression {
  private static final long serialVersionUID = 1L;
  private static final int STREAM = 0;
  private static final List<Integer> TIMES = List.of(1, 2, 3);
  private static final int REVISION = 4;
  private static final int COLUMNS = 5;

  private final List<String> names;
  private transient MadeId id;
  private transient StructsToJsonEvaluator json;

  private MadeRowId(List<Expression> parts, List<String> names) {
    super(parts);
    this.names = names;
  }

  static MadeRowId of(List<Expression> parts) {
    if (parts.size() < COLUMNS) {
      throw new IllegalArgumentException(
          "weft_made takes a stream, the times of a window, a revision, and columns.");
    }
    return new MadeRowId(parts, RecordText.names(parts.subList(COLUMNS, parts.size())));
  }

  @Override
  public DataType dataType() {
    return DataTypes.StringType;
  }

  @Override
  public boolean nullable() {
    return false;
  }

  /** Begins the id of a row; called by generated code. */
  public MadeId begin(UTF8String stream) {
    if (id == null) {
      id = new MadeId(names);
    }
    id.begin(stream);
    return id;
  }

  /** The id of a row that was begun, of which these are the columns; called by generated code. */
  public UTF8String end(Object[] columns) {
    if (json == null) {
      StructType type = new StructType();
      for (int at = 0; at < names.size(); at++) {
        type = type.add(names.get(at), part(COLUMNS + at).dataType());
      }
      json =
          new StructsToJsonEvaluator(
              Map$.MODULE$.<String, String>empty(), type, Option.apply("UTC"));
    }
    return id.end((UTF8String) json.evaluate(new GenericInternalRow(columns)));
  }

  @Override
  public Object eval(InternalRow input) {
    MadeId made = begin((UTF8String) part(STREAM).eval(input));
    for (int at : TIMES) {
      if (part(at).eval(input) instanceof Number time) {
        made.putTime(time.longValue());
      }
    }
    if (part(REVISION).eval(input) instanceof Number revision) {
      made.putNumber(revision.longValue());
    }
    Object[] columns =
        parts().stream().skip(COLUMNS).map(part -> part.eval(input)).toArray(Object[]::new);
    return columns.length == 0 ? made.end() : end(columns);
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    String self = context.addReferenceObj("made", this, MadeRowId.class.getName());
    String made = context.freshName("made");
    StringBuilder code = new StringBuilder();
    ExprCode stream = part(STREAM).genCode(context);
    code.append(stream.code())
        .append(
            "\n%s %s = %s.begin(%s);\n"
                .formatted(MadeId.class.getName(), made, self, stream.value()));
    for (int at : TIMES) {
      present(context, code, at, made + ".putTime(%s);");
    }
    present(context, code, REVISION, made + ".putNumber(%s);");
    String end = made + ".end()";
    if (parts().stream().skip(COLUMNS).allMatch(MadeRowId::isPlain)) {
      for (int at = COLUMNS; at < parts().size(); at++) {
        present(context, code, at, "%s.put(%d, %%s);".formatted(made, at - COLUMNS));
      }
    } else {
      String columns = context.freshName("columns");
      code.append("Object[] %s = new Object[%d];\n".formatted(columns, names.size()));
      for (int at = COLUMNS; at < parts().size(); at++) {
        present(context, code, at, "%s[%d] = %%s;".formatted(columns, at - COLUMNS));
      }
      end = "%s.end(%s)".formatted(self, columns);
    }
    code.append("UTF8String %s = %s;\n".formatted(result.value(), end));
    return result.copy(code(code.toString()), FalseLiteral$.MODULE$, result.value());
  }

  /** Code for a part where it is no null. */
  private void present(CodegenContext context, StringBuilder code, int at, String then) {
    ExprCode part = part(at).genCode(context);
    code.append(part.code())
        .append(
            "\nif (!%s) {\n  %s\n}\n".formatted(part.isNull(), then.formatted(part.value())));
  }

  /** Whether the id writes a column itself; others are made JSON by Spark. */
  private static boolean isPlain(Expression column) {
    DataType type = column.dataType();
    return type.equals(DataTypes.StringType)
        || type instanceof LongType
        || type instanceof IntegerType
        || type instanceof ShortType
        || type instanceof ByteType
        || type instanceof BooleanType;
  }

  @Override
  Expression over(List<Expression> others) {
    return new MadeRowId(others, names);
  }

  @Override
  Object mark() {
    return names;
  }

  @Override
  public String prettyName() {
    return "weft_made";
  }
}
