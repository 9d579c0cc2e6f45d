package weft.kernel.source;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Parses records that are CSV. Columns are found by the header, or by place when there is none. */
final class CsvRecords extends RecordParser {
  private static final char BYTE_ORDER_MARK = '\uFEFF';

  private final char separator;
  private transient TextValue[] readers;
  private transient UTF8String header;
  private transient int[] places;
  private transient int width;

  CsvRecords(StructType schema, String required, char separator) {
    super(schema, required);
    this.separator = separator;
  }

  @Override
  InternalRow read(byte[] value, UTF8String header) throws BadRecord {
    if (readers == null) {
      readers =
          Arrays.stream(schema().fields())
              .map(field -> TextValues.reader(field.dataType()))
              .toArray(TextValue[]::new);
    }
    if (places == null || !Objects.equals(header, this.header)) {
      locate(header);
    }
    String[] texts = CsvFields.split(text(value), separator);
    if (texts.length != width) {
      throw new BadRecord(
          "the line has " + texts.length + " fields where " + width + " are expected");
    }
    return columns(texts);
  }

  private void locate(UTF8String header) throws BadRecord {
    StructField[] fields = schema().fields();
    places = new int[fields.length];
    if (header == null) {
      Arrays.setAll(places, i -> i);
      width = fields.length;
    } else {
      String[] names = CsvFields.split(header.toString(), separator);
      Arrays.setAll(places, i -> find(fields[i].name(), names));
      width = names.length;
    }
    this.header =
        header == null ? null : header.clone(); // Spark uses its bytes again for the next row
  }

  private static String text(byte[] value) {
    String text = new String(value, StandardCharsets.UTF_8);
    return text.charAt(0) == BYTE_ORDER_MARK ? text.substring(1) : text;
  }

  /** The place of a name: as it is written, or else whatever its case and the spaces around it. */
  private static int find(String name, String[] names) {
    int exact = Arrays.asList(names).indexOf(name);
    for (int at = 0; exact < 0 && at < names.length; at++) {
      if (names[at] != null && names[at].strip().equalsIgnoreCase(name)) {
        return at;
      }
    }
    return exact;
  }

  private InternalRow columns(String[] texts) throws BadRecord {
    Object[] values = new Object[places.length];
    for (int i = 0; i < places.length; i++) {
      String text = places[i] < 0 ? null : texts[places[i]];
      if (text != null) {
        try {
          values[i] = readers[i].read(text);
        } catch (BadRecord bad) {
          throw bad.in(schema().fieldNames()[i]);
        }
      }
    }
    return new GenericInternalRow(values);
  }
}
