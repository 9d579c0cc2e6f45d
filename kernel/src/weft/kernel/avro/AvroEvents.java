package weft.kernel.avro;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import weft.kernel.spark.Catalyst;

/**
 * Events of a topic in Avro: a zero, the number of a schema in four bytes, and the value. They
 * become JSON, or keep their bytes and have a reason why not.
 */
public final class AvroEvents implements Serializable {
  private static final long serialVersionUID = 1;
  private static final int HEAD = 5;
  private static final JsonFactory JSON = new JsonFactory();
  private static final StructType RESULT =
      new StructType().add("value", DataTypes.BinaryType).add("bad", DataTypes.StringType);

  private final String registry;

  private transient Registry schemas;
  private transient BinaryDecoder decoder;

  AvroEvents(String registry) {
    this.registry = registry;
  }

  /** A column of JSON and of the reason why there is none, from one of events. */
  public static Column json(Column value, String registry) {
    return Catalyst.call(new AvroEvents(registry), AvroEvents.class, "read", RESULT, value);
  }

  /** Called by generated code, once for each event; fails only if the registry does not answer. */
  public InternalRow read(byte[] value) {
    try {
      return row(value == null ? null : toJson(value), null);
    } catch (UnreadableException why) {
      return row(value, why.getMessage());
    }
  }

  private static InternalRow row(byte[] value, String bad) {
    return new GenericInternalRow(new Object[] {value, UTF8String.fromString(bad)});
  }

  byte[] toJson(byte[] value) throws UnreadableException {
    if (value.length < HEAD || value[0] != 0) {
      throw new UnreadableException("it is not in the wire format of a registry of schemas");
    }
    schemas = schemas == null ? Registry.at(registry) : schemas;
    KnownSchema entry = schemas.get(ByteBuffer.wrap(value).getInt(1));
    ByteArrayOutputStream out = new ByteArrayOutputStream(2 * value.length + entry.head().length);
    out.writeBytes(entry.head());
    try (JsonGenerator json = JSON.createGenerator(out)) {
      decoder = DecoderFactory.get().binaryDecoder(value, HEAD, value.length - HEAD, decoder);
      Object found = new GenericDatumReader<>(entry.schema()).read(null, decoder);
      if (!decoder.isEnd()) {
        throw new UnreadableException("it is longer than its schema says");
      }
      AvroValues.write(entry.schema(), found, json);
    } catch (IOException | RuntimeException broken) {
      throw new UnreadableException("it is not as its schema says: " + broken.getMessage());
    }
    out.write('}');
    return out.toByteArray();
  }

  /** What stands before the payload of every event of a schema. */
  static byte[] head(Schema schema) {
    String text = "{\"schema\":" + ConnectSchema.of(schema) + ",\"payload\":";
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
