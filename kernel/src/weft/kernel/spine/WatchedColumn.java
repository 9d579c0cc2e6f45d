package weft.kernel.spine;

import java.io.Serializable;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * A column of an output whose values are summed up: numbers as they are, truths as 0 and 1, texts
 * and bytes by their length; of any other only what is missing.
 *
 * @param name the column
 * @param ordinal its place in the rows of the output
 * @param reader how a value becomes a number, or null where it does not
 */
record WatchedColumn(String name, int ordinal, Reader reader) implements Serializable {

  /** A value of a row as a number. */
  interface Reader extends Serializable {
    double read(UnsafeRow row, int ordinal);
  }

  private static final Map<DataType, Reader> PLAIN =
      Map.of(
          DataTypes.ByteType, UnsafeRow::getByte,
          DataTypes.ShortType, UnsafeRow::getShort,
          DataTypes.IntegerType, UnsafeRow::getInt,
          DataTypes.LongType, UnsafeRow::getLong,
          DataTypes.FloatType, UnsafeRow::getFloat,
          DataTypes.DoubleType, UnsafeRow::getDouble,
          DataTypes.BooleanType, (row, at) -> row.getBoolean(at) ? 1 : 0);

  static WatchedColumn of(StructType schema, String name) {
    int ordinal = schema.fieldIndex(name);
    StructField field = schema.fields()[ordinal];
    return new WatchedColumn(name, ordinal, reader(field.dataType()));
  }

  void take(UnsafeRow row, ColumnSummary summary) {
    if (row.isNullAt(ordinal)) {
      summary.addNull();
    } else if (reader != null) {
      summary.add(reader.read(row, ordinal));
    }
  }

  private static Reader reader(DataType type) {
    if (type instanceof DecimalType decimal) {
      return (row, at) -> row.getDecimal(at, decimal.precision(), decimal.scale()).toDouble();
    }
    if (type instanceof StringType || type instanceof BinaryType) {
      // The low half of the word that says where a value of variable size lies is its length.
      return (row, at) -> (int) row.getLong(at);
    }
    return PLAIN.get(type);
  }
}
