package weft.kernel.window.aggregate;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import weft.kernel.bytes.Blob;

/** The slots of one accumulator, whose one argument is the only column of a row. */
final class Slots {
  private final Accumulator accumulator;
  private final long[] longs;
  private final Object[] objects;
  private long records;

  Slots(Accumulator accumulator) {
    this.accumulator = accumulator;
    this.longs = new long[accumulator.longs()];
    this.objects = new Object[accumulator.objects()];
  }

  static Slots of(Accumulator accumulator, Object... values) {
    return of(accumulator, Arrays.asList(values));
  }

  static Slots of(Accumulator accumulator, List<?> values) {
    Slots slots = new Slots(accumulator);
    values.forEach(slots::add);
    return slots;
  }

  void add(Object value) {
    records++;
    GenericInternalRow row = new GenericInternalRow(new Object[] {value});
    accumulator.add(longs, 0, objects, 0, row, new Standing());
  }

  Slots subtract(Object value) {
    records--;
    accumulator.subtract(longs, 0, objects, 0, new GenericInternalRow(new Object[] {value}));
    return this;
  }

  Slots merge(Slots other) {
    records += other.records;
    accumulator.merge(longs, 0, objects, 0, other.longs, 0, other.objects, 0);
    return this;
  }

  /** The same after it was written and read. */
  Slots stored() {
    Slots read = new Slots(accumulator);
    read.records = records;
    System.arraycopy(longs, 0, read.longs, 0, longs.length);
    Blob blob = new Blob();
    for (Object each : objects) {
      accumulator.write(each, blob);
    }
    Blob in = Blob.reading(blob.toArray());
    for (int at = 0; at < objects.length; at++) {
      read.objects[at] = accumulator.read(in);
    }
    return read;
  }

  Object result() {
    return accumulator.result(records, longs, 0, objects, 0);
  }
}
