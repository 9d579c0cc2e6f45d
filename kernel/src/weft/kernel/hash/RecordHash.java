package weft.kernel.hash;

import java.security.DigestException;
import java.security.MessageDigest;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import weft.kernel.bytes.ByteSink;
import weft.kernel.bytes.Sha256;

/**
 * Hashes the records of one stream, each by SHA-256 over the canonical form of the user's columns
 * and the record's id, and sums the hashes; one that is rooted builds a tree over them in their
 * order too. Used by one task; makes no garbage per record.
 */
public final class RecordHash {
  public static final String WEFT = "_weft";
  private static final int HASH_BYTES = 32;

  private final CanonicalForm.Fields user;
  private final int columns;
  private final int system;
  private final int id;
  private final UnsafeRow systemRow;
  private final ByteSink out = new ByteSink();
  private final byte[] hash = new byte[HASH_BYTES];
  private final MessageDigest sha256 = Sha256.digest();
  private final HashSum sum = new HashSum();
  private final HashTree tree;
  private long rows;

  public RecordHash(StructType schema) {
    this(schema, null);
  }

  /** One for the rows of a file, in the order in which they are in it. */
  public static RecordHash rooted(StructType schema) {
    return new RecordHash(schema, new HashTree());
  }

  private RecordHash(StructType schema, HashTree tree) {
    this.tree = tree;
    StructField[] fields = schema.fields();
    this.columns =
        (int) Arrays.stream(fields).takeWhile(field -> !field.name().equals(WEFT)).count();
    if (Arrays.stream(fields).skip(columns).anyMatch(field -> !field.name().equals(WEFT))) {
      throw new IllegalArgumentException(
          "The column " + WEFT + " must come last in " + schema.simpleString() + ".");
    }
    this.user = new CanonicalForm.Fields(Arrays.copyOf(fields, columns));
    this.system = schema.getFieldIndex(WEFT).isDefined() ? schema.fieldIndex(WEFT) : -1;
    StructType inner = system < 0 ? new StructType() : (StructType) fields[system].dataType();
    this.id = inner.getFieldIndex("id").isDefined() ? inner.fieldIndex("id") : -1;
    this.systemRow = new UnsafeRow(inner.length());
  }

  public void add(UnsafeRow row) {
    out.truncate(0);
    user.writeRow(out, row, columns);
    writeId(row);
    sha256.update(out.bytes(), 0, out.size());
    try {
      sha256.digest(hash, 0, HASH_BYTES);
    } catch (DigestException e) {
      throw new IllegalStateException(e);
    }
    addHash();
  }

  private void addHash() {
    sum.add(hash);
    if (tree != null) {
      tree.add(hash);
    }
    rows++;
  }

  /** Adds a record whose hash was computed before, and stands in a column of another row. */
  public void addKnown(UnsafeRow row, int ordinal) {
    int start = (int) (row.getLong(ordinal) >>> 32);
    Platform.copyMemory(
        row.getBaseObject(),
        row.getBaseOffset() + start,
        hash,
        Platform.BYTE_ARRAY_OFFSET,
        HASH_BYTES);
    addHash();
  }

  /** Counts a record whose hash is not wanted. */
  public void skip() {
    rows++;
  }

  private void writeId(UnsafeRow row) {
    if (id >= 0 && !row.isNullAt(system)) {
      long place = row.getLong(system);
      systemRow.pointTo(
          row.getBaseObject(), row.getBaseOffset() + (int) (place >>> 32), (int) place);
      if (!systemRow.isNullAt(id)) {
        long text = systemRow.getLong(id);
        out.putCount((int) text);
        out.putMemory(
            systemRow.getBaseObject(), systemRow.getBaseOffset() + (int) (text >>> 32), (int) text);
      }
    }
  }

  public HashSum sum() {
    return sum;
  }

  /** The root of the tree over the hashes, null without one or without rows; ends the tree. */
  public String root() {
    return tree == null ? null : tree.root();
  }

  public long rows() {
    return rows;
  }
}
