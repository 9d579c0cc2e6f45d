package weft.kernel.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;

/** A change says where in the database's log it stands, and when and by what it was made. */
class OriginTest {
  private final ChangeEvents events = ChangeEvents.of(DataTypes.StringType);

  private InternalRow change(String source, String rest) {
    return events.change(
        "{\"op\":\"c\",\"after\":{\"id\":1},\"source\":{%s}%s}"
            .formatted(source, rest)
            .replace('\'', '"'));
  }

  private String position(String source) {
    InternalRow change = change(source, "");
    return change.isNullAt(1) ? null : change.getString(1);
  }

  private Long at(String source, String rest) {
    InternalRow change = change(source, rest);
    return change.isNullAt(2) ? null : change.getLong(2);
  }

  @Test
  void thatOfPostgresIsTheLastCommitAndItsOwn() {
    String one = "0000000000000001";
    String two = "0000000000000002";
    String place = "00000000016e9058";
    assertEquals(place + "/" + place, position("'connector':'postgresql','lsn':24023128"));
    assertEquals(one + "/" + place, position("'lsn':'24023128','sequence':'[\\'1\\',\\'2\\']'"));
    assertEquals(one + "/" + two, position("'sequence':'[ \\'1\\', \\'2\\' ]'"));
    assertEquals(two + "/" + two, position("'sequence':'[null,\\'2\\']','lsn':null"));
    assertNull(position("'sequence':'[]'"));
    assertNull(position("'sequence':'[\\'1\\',null]'"));
    assertNull(position("'connector':'mysql','sequence':'[\\'1\\',\\'2\\']'"));
    assertNull(position("'lsn':'1/16E9058'"));
    assertTrue(position("'lsn':4294967296").compareTo(position("'lsn':4294967295")) > 0);
  }

  @Test
  void aRowOfASnapshotComesBehindTheCommitAndBeforeWhatCameLater() {
    String read = position("'lsn':50,'sequence':'[\\'40\\',\\'50\\']','snapshot':'incremental'");
    String before = position("'lsn':39,'sequence':'[\\'30\\',\\'39\\']'");
    String openMeanwhile = position("'lsn':45,'sequence':'[\\'40\\',\\'45\\']'");
    assertTrue(before.compareTo(read) < 0);
    assertTrue(read.compareTo(openMeanwhile) < 0);
    String first = position("'lsn':50,'sequence':'[null,\\'50\\']','snapshot':'last'");
    String behind = position("'lsn':51,'sequence':'[null,\\'51\\']'");
    assertEquals("0000000000000032/0000000000000000", first);
    assertTrue(first.compareTo(behind) < 0);
  }

  @Test
  void thatOfMysqlIsFilePositionAndRow() {
    assertEquals(
        "0000000003/00000000000000000154/0000000002",
        position("'file':'mysql-bin.000003','pos':154,'row':2"));
    assertEquals(
        "0000001000/00000000000000000004/0000000000",
        position("'file':'a.b.1000','pos':4,'row':null"));
    assertNull(position("'file':'commitlog-6.log','pos':54"));
    assertNull(position("'file':'','pos':0"));
    assertNull(position("'file':'bin.1','pos':-4"));
  }

  @Test
  void thatOfOthersIsWhatOrdersTheirChanges() {
    assertEquals(
        "00000027:00000758:0005/00000027:00000758:0003/0000000001",
        position(
            "'commit_lsn':'00000027:00000758:0005','change_lsn':'00000027:00000758:0003',"
                + "'event_serial_no':'1'"));
    assertEquals("00000000000000000620//", position("'commit_lsn':'620','change_lsn':null"));
    assertEquals(
        "00000000000002122185/001234.00012345.0124/0000000001",
        position("'scn':'2122185','rs_id':' 001234.00012345.0124 ','ssn':1"));
    assertEquals("00000001558965508000/0000000031/", position("'ts_ms':1558965508000,'ord':31"));
    assertNull(position("'vgtid':'[]','ts_ms':1"));
    assertNull(position("'commit_lsn':'soon'"));
  }

  @Test
  void theDatabasesTimeCountsBeforeTheConnectors() {
    assertEquals(1_000_001L, at("'ts_ms':1000,'ts_us':1000001,'ts_ns':1000001999", ""));
    assertEquals(1_000_001L, at("'ts_ms':1000,'ts_ns':1000001999", ",'ts_us':7"));
    assertEquals(1_000_000L, at("'ts_ms':'1000'", ",'ts_us':7"));
    assertEquals(7L, at("'ts_ms':0", ",'ts_ms':1000,'ts_us':7"));
    assertEquals(7000L, at("'ts_ms':9223372036854775807", ",'ts_ms':7"));
    assertNull(at("", ",'ts_ms':9223372036854775807"));
  }

  @Test
  void aTransactionIsNamedByTheEventOrByPostgres() {
    assertEquals(
        "5:7", change("'lsn':7,'txId':5", ",'transaction':{'id':'5:7','x':[]}").getString(3));
    assertEquals("5", change("'lsn':7,'txId':5", ",'transaction':null").getString(3));
    assertTrue(change("'scn':7,'txId':'5'", ",'transaction':{'id':''}").isNullAt(3));
  }

  @Test
  void aSnapshotIsNamedAndAChangeHasNone() {
    for (String none : new String[] {"false", "'false'", "null", "''"}) {
      assertTrue(change("'snapshot':" + none, "").isNullAt(4));
    }
    assertTrue(change("", "").isNullAt(4));
    assertEquals("true", change("'snapshot':true", "").getString(4));
    assertEquals(
        "last_in_data_collection", change("'snapshot':'last_in_data_collection'", "").getString(4));
  }
}
