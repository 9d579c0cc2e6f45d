package weft.kernel.source;

import com.univocity.parsers.csv.CsvParser;
import com.univocity.parsers.csv.CsvParserSettings;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Parses records that are one CSV line each. Columns are found by the header, or by place when there is none. */
final class CsvRecords extends RecordParser {
  private final char separator;
  private transient CsvParser lines;
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
    if (lines == null) {
      lines = new CsvParser(settings());
      readers =
          Arrays.stream(schema().fields())
              .map(field -> TextValues.reader(field.dataType()))
              .toArray(TextValue[]::new);
    }
    if (places == null || !Objects.equals(header, this.header)) {
      locate(header);
    }
    String[] texts = split(new String(value, StandardCharsets.UTF_8));
    if (texts.length != width) {
      throw new BadRecord("the line has " + texts.length + " fields where " + width + " are expected");
    }
    return columns(texts);
  }

  private CsvParserSettings settings() {
    CsvParserSettings settings = new CsvParserSettings();
    settings.getFormat().setDelimiter(separator);
    settings.setMaxCharsPerColumn(-1);
    settings.setMaxColumns(10_000);
    settings.setIgnoreLeadingWhitespaces(false);
    settings.setIgnoreTrailingWhitespaces(false);
    settings.setEmptyValue("");
    settings.setNullValue(null);
    return settings;
  }

  private void locate(UTF8String header) throws BadRecord {
    StructField[] fields = schema().fields();
    places = new int[fields.length];
    if (header == null) {
      Arrays.setAll(places, i -> i);
      width = fields.length;
    } else {
      List<String> names = Arrays.asList(split(header.toString()));
      Arrays.setAll(places, i -> names.indexOf(fields[i].name()));
      width = names.size();
    }
    this.header = header;
  }

  private String[] split(String line) throws BadRecord {
    if (line.chars().filter(c -> c == '"').count() % 2 != 0) {
      throw new BadRecord("a quote is not closed");
    }
    return lines.parseLine(line);
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
