package weft.kernel.source;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.spark.StoredFolder;

/**
 * Reads the records of a segment file in raw form: after one line of JSON, each record is its
 * partition and its length as big-endian ints, then its bytes.
 */
final class SegmentReader implements PartitionReader<InternalRow> {
  private final Segment segment;
  private final ByteBuffer rest;
  private int index = -1;
  private int partition;
  private byte[] value;

  SegmentReader(StoredFolder folder, Segment segment) {
    this.segment = segment;
    String name = segment.fileName();
    try {
      rest = ByteBuffer.wrap(folder.read(name));
    } catch (IOException e) {
      throw new IllegalStateException(
          "Segment " + folder + "/" + name + " cannot be read: " + e, e);
    }
    while (rest.get() != '\n') {
      continue;
    }
  }

  @Override
  public boolean next() {
    if (!rest.hasRemaining()) {
      return false;
    }
    index++;
    partition = rest.getInt();
    value = new byte[rest.getInt()];
    rest.get(value);
    return true;
  }

  @Override
  public InternalRow get() {
    UTF8String position = UTF8String.fromString(segment.number() + ":" + index);
    return new GenericInternalRow(new Object[] {value, partition, position, null});
  }

  @Override
  public void close() {}
}
