package weft.kernel.source;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

/** A record without a value becomes the deletion of its key, or says why it is none. */
class TombstonesTest {
  private static final StructType TABLE =
      new StructType().add("id", DataTypes.LongType).add("v", DataTypes.StringType);

  private final ChangeEvents rows = new ChangeEvents(TABLE, Epoch.AUTO, Told.ROWS, "id");

  private static InternalRow deletion(String key) {
    byte[] bytes = key == null ? null : key.getBytes(StandardCharsets.UTF_8);
    return new Tombstones().deletion(bytes);
  }

  private static String event(String key) {
    InternalRow deletion = deletion(key);
    assertNull(deletion.getUTF8String(1), key);
    return new String(deletion.getBinary(0), StandardCharsets.UTF_8);
  }

  @Test
  void aKeyIsDeletedWithItsSchemaOrWithout() {
    String schema = "{\"type\":\"struct\",\"fields\":[{\"type\":\"int64\",\"field\":\"id\"}]}";
    for (String key :
        new String[] {"{\"id\":7}", "{\"schema\":" + schema + ",\"payload\":{\"id\":7}}"}) {
      InternalRow columns = rows.columns(event(key));
      assertEquals(7, columns.getLong(0));
      assertEquals("d", columns.getStruct(2, 6).getString(0));
    }
  }

  @Test
  void columnsOfAKeyMayBeCalledAsPartsOfAnEventAre() {
    String key = "{\"schema\":\"a\",\"payload\":{\"x\":1},\"op\":\"u\",\"id\":7}";
    InternalRow columns = rows.columns(event(key));
    assertEquals(7, columns.getLong(0));
    assertEquals("d", columns.getStruct(2, 6).getString(0));
  }

  @Test
  void noValueIsNoneInEveryFormThatConvertersGiveIt() {
    Tombstones tombstones = new Tombstones();
    String schema = "{\"schema\":{\"type\":\"struct\"},\"payload\":null}";
    assertTrue(tombstones.isNone(null));
    for (String none : new String[] {"null", schema}) {
      assertTrue(tombstones.isNone(none.getBytes(StandardCharsets.UTF_8)), none);
    }
    for (String row :
        new String[] {
          "",
          "{}",
          "nul",
          "\"null\"",
          "\"payload\":null}",
          "{\"id\":7,\"payload\":null}",
          "{\"schema\":\"a\",\"payload\":null}",
          "{\"id\":7,\"schema\":{},\"payload\":null}",
          "{\"schema\":{},\"payload\":{\"payload\":null}}"
        }) {
      assertFalse(tombstones.isNone(row.getBytes(StandardCharsets.UTF_8)), row);
    }
  }

  @Test
  void aKeyThatNamesNoColumnsKeepsItsBytes() {
    String reason = "it has no value, and its key names no columns";
    for (String key : new String[] {"", "7", "\"a\"", "[1]", "null", "{\"id\":", "\u0000"}) {
      InternalRow none = deletion(key);
      assertEquals(reason, none.getUTF8String(1).toString(), key);
      assertArrayEquals(key.getBytes(StandardCharsets.UTF_8), none.getBinary(0), key);
    }
    assertEquals(reason, deletion(null).getUTF8String(1).toString());
  }
}
