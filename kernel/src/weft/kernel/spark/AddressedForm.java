package weft.kernel.spark;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.nio.ByteBuffer;
import org.apache.spark.serializer.DeserializationStream;
import org.apache.spark.serializer.SerializationStream;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.serializer.SerializerInstance;
import scala.reflect.ClassTag;

/** How numbers with bytes are written between two steps: as they are, with their lengths. */
final class AddressedForm extends Serializer implements Serializable {
  private static final long serialVersionUID = 1;

  @Override
  public SerializerInstance newInstance() {
    return new Instance();
  }

  @Override
  public boolean supportsRelocationOfSerializedObjects() {
    return true;
  }

  private static final class Instance extends SerializerInstance {
    private static IllegalStateException refused() {
      return new IllegalStateException("Only what steps send is written this way.");
    }

    @Override
    public <T> ByteBuffer serialize(T value, ClassTag<T> type) {
      throw refused();
    }

    @Override
    public <T> T deserialize(ByteBuffer bytes, ClassTag<T> type) {
      throw refused();
    }

    @Override
    public <T> T deserialize(ByteBuffer bytes, ClassLoader loader, ClassTag<T> type) {
      throw refused();
    }

    @Override
    public SerializationStream serializeStream(OutputStream out) {
      return new Writing(new DataOutputStream(out));
    }

    @Override
    public DeserializationStream deserializeStream(InputStream in) {
      return new Reading(new DataInputStream(new BufferedInputStream(in)));
    }
  }

  private static final class Writing extends SerializationStream {
    private final DataOutputStream out;

    Writing(DataOutputStream out) {
      this.out = out;
    }

    @Override
    public <T> SerializationStream writeObject(T value, ClassTag<T> type) {
      try {
        if (value instanceof byte[] bytes) {
          out.writeInt(bytes.length);
          out.write(bytes);
        } else {
          out.writeInt((Integer) value);
        }
      } catch (IOException e) {
        throw Sneaky.raise(e);
      }
      return this;
    }

    @Override
    public void flush() {
      try {
        out.flush();
      } catch (IOException e) {
        throw Sneaky.raise(e);
      }
    }

    @Override
    public void close() {
      try {
        out.close();
      } catch (IOException e) {
        throw Sneaky.raise(e);
      }
    }
  }

  private static final class Reading extends DeserializationStream {
    private final DataInputStream in;
    private boolean isValue;

    Reading(DataInputStream in) {
      this.in = in;
    }

    /** Numbers and bytes take turns; Spark ends at the exception that tells of the end. */
    @Override
    @SuppressWarnings("unchecked")
    public <T> T readObject(ClassTag<T> type) {
      try {
        int number = in.readInt();
        Object read = number;
        if (isValue) {
          byte[] bytes = new byte[number];
          in.readFully(bytes);
          read = bytes;
        }
        isValue = !isValue;
        return (T) read;
      } catch (IOException e) {
        throw Sneaky.raise(e);
      }
    }

    @Override
    public void close() {
      try {
        in.close();
      } catch (IOException e) {
        throw Sneaky.raise(e);
      }
    }
  }
}
