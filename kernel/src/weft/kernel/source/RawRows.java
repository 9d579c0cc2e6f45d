package weft.kernel.source;

import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** The raw form in which every source delivers its records, before they are parsed. */
final class RawRows {
  static final StructType SCHEMA =
      new StructType()
          .add("value", DataTypes.BinaryType)
          .add("partition", DataTypes.IntegerType)
          .add("position", DataTypes.StringType)
          .add("timestamp", DataTypes.TimestampType);

  private RawRows() {}
}
