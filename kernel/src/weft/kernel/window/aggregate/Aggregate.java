package weft.kernel.window.aggregate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.ShortType;
import weft.kernel.json.Json;

/**
 * A declared aggregate: its name, its function and the types of its arguments. State is read back
 * by it.
 */
public record Aggregate(
    String name,
    String function,
    List<DataType> types,
    double[] shares,
    boolean isMany,
    boolean skipsNulls)
    implements Serializable {

  /** Two of them with equal texts have accumulators of the same form. */
  public ObjectNode toJson() {
    ObjectNode node = Json.object().put("name", name).put("function", function);
    types.forEach(type -> node.withArray("types").add(type.json()));
    for (double share : shares) {
      node.withArray("shares").add(share);
    }
    return node.put("many", isMany).put("skips_nulls", skipsNulls);
  }

  public static Aggregate fromJson(JsonNode node) {
    List<DataType> types = new ArrayList<>();
    node.path("types").forEach(type -> types.add(DataType.fromJson(type.textValue())));
    return new Aggregate(
        node.get("name").textValue(),
        node.get("function").textValue(),
        types,
        doubles(node.path("shares")),
        node.path("many").asBoolean(),
        node.path("skips_nulls").asBoolean());
  }

  public static double[] doubles(JsonNode node) {
    double[] values = new double[node.size()];
    for (int at = 0; at < values.length; at++) {
      values[at] = node.get(at).doubleValue();
    }
    return values;
  }

  /** The type to which an argument is cast before the function sees it, or null to leave it. */
  public static DataType cast(String function, DataType type) {
    boolean isSmall =
        type instanceof IntegerType || type instanceof ShortType || type instanceof ByteType;
    return switch (function) {
      case "sum", "avg" ->
          isSmall ? DataTypes.LongType : type instanceof FloatType ? DataTypes.DoubleType : null;
      case "stddev", "stddev_pop", "variance", "var_pop" -> DataTypes.DoubleType;
      default -> null;
    };
  }

  /** The accumulator of this aggregate, whose arguments are the columns from `argument` on. */
  public Accumulator accumulator(int argument) {
    DataType type = types.isEmpty() ? null : types.get(0);
    return switch (function) {
      case "count" -> types.isEmpty() ? Count.ofRecords() : Count.ofValues(argument);
      case "sum" -> sum(argument, type, false);
      case "avg" -> sum(argument, type, true);
      case "stddev" -> new Moments(argument, Moments.Figure.DEVIATION);
      case "stddev_pop" -> new Moments(argument, Moments.Figure.DEVIATION_OF_ALL);
      case "variance" -> new Moments(argument, Moments.Figure.VARIANCE);
      case "var_pop" -> new Moments(argument, Moments.Figure.VARIANCE_OF_ALL);
      case "min" -> extreme(argument, type, false);
      case "max" -> extreme(argument, type, true);
      case "first" -> Pick.first(argument, type, false, skipsNulls);
      case "last" -> Pick.first(argument, type, true, skipsNulls);
      case "min_by" -> Pick.by(argument, type, argument + 1, types.get(1), false);
      case "max_by" -> Pick.by(argument, type, argument + 1, types.get(1), true);
      case "approx_count_distinct" -> new Distinct(argument, type);
      case "approx_percentile" -> percentile(argument, type);
      case "collect_list" -> new Collect(argument, type, false);
      case "collect_set" -> new Collect(argument, type, true);
      default -> throw new IllegalArgumentException("There is no aggregate '" + function + "'.");
    };
  }

  /**
   * The accumulator from which records can be taken out again, whose arguments are the columns from
   * `argument` on; null where that needs all values in their order.
   */
  public Accumulator retractable(int argument) {
    return switch (function) {
      case "count" -> accumulator(argument);
      case "sum", "avg" ->
          types.get(0).equals(DataTypes.DoubleType)
              ? new ExactSum(argument, function.equals("avg"))
              : accumulator(argument);
      default -> null;
    };
  }

  private Accumulator sum(int argument, DataType type, boolean isMean) {
    if (type.equals(DataTypes.DoubleType)) {
      return new Moments(argument, isMean ? Moments.Figure.MEAN : Moments.Figure.SUM);
    } else if (WholeSum.takes(type)) {
      return new WholeSum(argument, type, isMean);
    } else if (type instanceof DecimalType decimal) {
      return new BigSum(argument, decimal, isMean);
    }
    throw wrongType(type, "a number");
  }

  private Accumulator extreme(int argument, DataType type, boolean isLargest) {
    return Extreme.takes(type)
        ? new Extreme(argument, type, isLargest)
        : Pick.extreme(argument, type, isLargest);
  }

  private Accumulator percentile(int argument, DataType type) {
    if (type instanceof NumericType
        || type instanceof DateType
        || type.equals(DataTypes.TimestampType)) {
      return new Percentile(argument, type, shares, isMany);
    }
    throw wrongType(type, "a number, a date or a timestamp");
  }

  private IllegalArgumentException wrongType(DataType type, String wanted) {
    return new IllegalArgumentException(
        "Aggregate '"
            + name
            + "': "
            + function
            + " needs "
            + wanted
            + ", not "
            + type.catalogString()
            + ".");
  }
}
