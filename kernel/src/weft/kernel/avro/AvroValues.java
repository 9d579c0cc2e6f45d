package weft.kernel.avro;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.IndexedRecord;

/** Values of Avro as Kafka Connect writes them in JSON: bytes in base64, all else as it is. */
final class AvroValues {
  private AvroValues() {}

  static void write(Schema schema, Object value, JsonGenerator json) throws IOException {
    if (value == null) {
      json.writeNull();
      return;
    }
    switch (schema.getType()) {
      case UNION -> writeChosen(schema, value, json);
      case RECORD -> {
        json.writeStartObject();
        IndexedRecord row = (IndexedRecord) value;
        for (Schema.Field field : schema.getFields()) {
          json.writeFieldName(field.name());
          write(field.schema(), row.get(field.pos()), json);
        }
        json.writeEndObject();
      }
      case ARRAY -> {
        json.writeStartArray();
        for (Object each : (Collection<?>) value) {
          write(schema.getElementType(), each, json);
        }
        json.writeEndArray();
      }
      case MAP -> {
        json.writeStartObject();
        for (Map.Entry<?, ?> each : ((Map<?, ?>) value).entrySet()) {
          json.writeFieldName(each.getKey().toString());
          write(schema.getValueType(), each.getValue(), json);
        }
        json.writeEndObject();
      }
      case INT -> json.writeNumber((Integer) value);
      case LONG -> json.writeNumber((Long) value);
      case FLOAT -> json.writeNumber((Float) value);
      case DOUBLE -> json.writeNumber((Double) value);
      case BOOLEAN -> json.writeBoolean((Boolean) value);
      case BYTES -> {
        ByteBuffer bytes = (ByteBuffer) value;
        byte[] copied = new byte[bytes.remaining()];
        bytes.duplicate().get(copied);
        json.writeBinary(copied);
      }
      case FIXED -> json.writeBinary(((GenericFixed) value).bytes());
      default -> json.writeString(value.toString());
    }
  }

  private static void writeChosen(Schema union, Object value, JsonGenerator json)
      throws IOException {
    Schema chosen = union.getTypes().get(GenericData.get().resolveUnion(union, value));
    if (chosen.equals(ConnectSchema.only(union))) {
      write(chosen, value, json);
    } else {
      json.writeString(value.toString());
    }
  }
}
