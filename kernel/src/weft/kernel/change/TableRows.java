package weft.kernel.change;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.bytes.Blob;
import weft.kernel.operator.Buckets;
import weft.kernel.operator.Columns;
import weft.kernel.operator.Message;
import weft.kernel.operator.Router;
import weft.kernel.spark.RowWriter;

/**
 * Sends the changes of one table to the buckets of their keys, many in one message.
 *
 * <p>In: the knot, what the row says of the change (op, position, snapshot, kept
 * columns), its id, its dead letter where its columns cannot be computed, then the columns of the
 * key and those that are needed.
 */
final class TableRows extends Router {
  private static final long serialVersionUID = 1;

  /** What a change is for: flags. */
  static final int CHANGES = 1;

  static final int SWEEPS = 2;
  static final int COUNTS = 4;

  /** Of a record that is one of its transaction, whatever becomes of it. */
  static final int TELLS = 8;

  private static final int KNOT_AT = 0;
  private static final int OP_AT = 1;
  private static final int POSITION_AT = 2;
  private static final int SNAPSHOT_AT = 3;
  private static final int KEPT_AT = 4;
  private static final int ID_AT = 5;
  private static final int DEAD_AT = 6;
  static final int HEAD = 7;

  /** Where transactions are held: the one that made the change, and the partition it came by. */
  private static final int TRANSACTION_AT = HEAD;

  private static final int PARTITION_AT = HEAD + 1;
  private static final int HELD_HEAD = HEAD + 2;

  private static final int LONGEST_NUMBER = 19;
  private static final int MOST_BYTES = 1 << 20;
  /** The op of a row that is no change: its position says how many changes were passed over. */
  static final UTF8String PASSED = UTF8String.fromString("passed");

  private static final UTF8String DELETED = UTF8String.fromString("d");
  private static final UTF8String TRUNCATED = UTF8String.fromString("t");
  private static final UTF8String LAST = UTF8String.fromString("last");

  private final Columns columns;
  private final int buckets;
  private final int table;
  private final int keys;
  private final StructType kept;
  private final boolean holds;

  private transient RowWriter keyOf;
  private transient RowWriter rowOf;
  private transient Blob[] parcels;
  private transient byte[] transaction;
  private transient int partition;

  /**
   * @param kept the columns of the table that are needed, which stand behind the key
   * @param holds whether changes wait for the rest of their transaction, which they then tell too
   */
  TableRows(
      Columns columns, int buckets, int table, int keys, StructType kept, boolean holds) {
    this.columns = columns;
    this.buckets = buckets;
    this.table = table;
    this.keys = keys;
    this.kept = kept;
    this.holds = holds;
  }

  private void open() {
    int head = holds ? HELD_HEAD : HEAD;
    keyOf = columns.writer(head, head + keys);
    rowOf = columns.writer(head + keys, columns.size());
  }

  @Override
  protected void begin() {
    if (keyOf == null) {
      open();
    }
    parcels = new Blob[buckets];
  }

  @Override
  protected Iterator<Message> take(InternalRow row) {
    UTF8String op = text(OP_AT, row);
    if (PASSED.equals(op)) {
      long rows = Long.parseLong(text(POSITION_AT, row).toString());
      return one(new Message(0, Message.TAKEN, 0, rows, new byte[0]));
    }
    byte[] key = keyOf.toBytes(row);
    int bucket = Buckets.of(Post.hash(table, key), buckets);
    boolean isGone = DELETED.equals(op);
    boolean isEmptied = empties(op);
    boolean isJudged = holds || !isGone && !isEmptied;
    boolean isDead = isJudged && !row.isNullAt(DEAD_AT);
    UTF8String position = text(POSITION_AT, row);
    byte[] written = isGone || isEmptied ? null : rowOf.toBytes(row);
    Changed change =
        Changed.of(
            key,
            position == null ? null : position.getBytes(),
            row.getLong(KNOT_AT),
            offset(text(ID_AT, row)),
            written,
            kept((ArrayData) columns.value(KEPT_AT, row)));
    UTF8String snapshot = text(SNAPSHOT_AT, row);
    int tells = 0;
    if (holds) {
      transaction = snapshot == null ? bytes(TRANSACTION_AT, row) : null;
      partition = row.getInt(PARTITION_AT);
      tells = TELLS;
    }
    if (isEmptied || endsSnapshot(position, snapshot)) {
      Changed mark = change.asMark();
      for (int each = 0; each < buckets; each++) {
        int counts = isEmptied && each == bucket ? COUNTS | tells : 0;
        put(each, SWEEPS | counts, mark);
      }
    }
    if (isDead) {
      if (holds) {
        put(bucket, TELLS, change.asMark());
      }
      return one(dead(row, bucket));
    }
    if (!isEmptied) {
      put(bucket, CHANGES | COUNTS | tells, change);
    }
    return parcels[bucket] != null && parcels[bucket].position() > MOST_BYTES
        ? one(send(bucket))
        : NONE;
  }

  private Message send(int bucket) {
    byte[] parcel = parcels[bucket].toArray();
    parcels[bucket] = null;
    return Message.of(bucket, Message.SEGMENT, parcel);
  }

  private void put(int bucket, int kind, Changed change) {
    if (parcels[bucket] == null) {
      parcels[bucket] = new Blob();
      parcels[bucket].putInt(table);
    }
    parcels[bucket].putInt(kind);
    change.write(parcels[bucket]);
    if (holds) {
      parcels[bucket].putArray(transaction);
      parcels[bucket].putInt(partition);
    }
  }

  private Message dead(InternalRow row, int bucket) {
    UnsafeRow letter = (UnsafeRow) row.getStruct(DEAD_AT, deadColumns());
    Blob out = new Blob();
    out.putLong(letter.getSizeInBytes());
    out.putRaw(letter.getBaseObject(), letter.getBaseOffset(), letter.getSizeInBytes());
    return Message.of(bucket, Message.DEAD, out.toArray());
  }

  private int deadColumns() {
    return ((StructType) columns.type(DEAD_AT)).size();
  }

  private static UTF8String text(int at, InternalRow row) {
    return row.isNullAt(at) ? null : row.getUTF8String(at);
  }

  private static byte[] bytes(int at, InternalRow row) {
    UTF8String text = text(at, row);
    return text == null ? null : text.getBytes();
  }

  /** Whether a change takes all rows of its table away. */
  static boolean empties(UTF8String op) {
    return TRUNCATED.equals(op);
  }

  /** Whether a row is the last of a snapshot, so that all that were before it are gone. */
  static boolean endsSnapshot(UTF8String position, UTF8String snapshot) {
    return position != null && snapshot != null && snapshot.startsWith(LAST);
  }

  /** Where a record stood in its source: the last part of its id, if that is a number. */
  static long offset(UTF8String id) {
    long number = 0;
    long place = 1;
    for (int at = id == null ? -1 : id.numBytes() - 1; at >= 0 && id.getByte(at) != '/'; at--) {
      int digit = id.getByte(at) - '0';
      if (digit < 0 || digit > 9 || id.numBytes() - at >= LONGEST_NUMBER) {
        return 0;
      }
      number += digit * place;
      place *= 10;
    }
    return number;
  }

  private int[] kept(ArrayData names) {
    if (names == null || names.numElements() == 0) {
      return Changed.NOTHING_KEPT;
    }
    List<Integer> found = new ArrayList<>();
    for (int at = 0; at < names.numElements(); at++) {
      String name = names.getUTF8String(at).toString();
      if (kept.getFieldIndex(name).isDefined()) {
        found.add(kept.fieldIndex(name));
      }
    }
    return found.stream().mapToInt(Integer::intValue).toArray();
  }

  @Override
  protected Iterator<Message> end() {
    List<Message> out = new ArrayList<>();
    for (int bucket = 0; bucket < buckets; bucket++) {
      if (parcels[bucket] != null) {
        out.add(send(bucket));
      }
    }
    return out.iterator();
  }
}
