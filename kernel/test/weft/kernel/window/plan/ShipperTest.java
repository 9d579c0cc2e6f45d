package weft.kernel.window.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import weft.kernel.operator.Columns;
import weft.kernel.operator.Message;
import weft.kernel.window.bucket.LateRow;

class ShipperTest {
  private static final StructType WEFT = new StructType().add("id", DataTypes.StringType);
  private static final StructType STREAM =
      new StructType().add("value", DataTypes.LongType).add("_weft", WEFT);
  private static final StructType READ =
      new StructType()
          .add("event_time", DataTypes.TimestampType)
          .add("knot", DataTypes.LongType)
          .add("watermark", DataTypes.TimestampType)
          .add("key", DataTypes.StringType)
          .add("arrival", DataTypes.TimestampType)
          .add("value", DataTypes.LongType)
          .add("_weft", WEFT)
          .add("id", DataTypes.StringType);

  private static InternalRow row(long time) {
    UTF8String id = UTF8String.fromString("id-" + time);
    InternalRow weft = new GenericInternalRow(new Object[] {id});
    Object[] columns = {time, 1L, null, UTF8String.fromString("key"), time, 7L, weft, id};
    return new GenericInternalRow(columns);
  }

  @Test
  void rowsThatWereSentAreNotKeptForTheNextBatch() {
    Shipper shipper = new Shipper(new Columns(READ), LateRow.type(STREAM), 2, 1, 1_000);
    shipper.begin();
    assertFalse(shipper.take(row(1)).hasNext());
    assertFalse(shipper.take(row(2)).hasNext());
    List<Message> sent = new ArrayList<>();
    shipper.end().forEachRemaining(sent::add);
    assertEquals(1, sent.size());
    assertFalse(shipper.end().hasNext());
  }
}
