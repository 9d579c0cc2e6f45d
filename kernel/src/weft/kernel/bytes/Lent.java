package weft.kernel.bytes;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Something that tasks work with, on its way to them: written once, and read only where none is
 * ready.
 *
 * <p>It may keep what takes long to make and is for one thread at a time. A task borrows one that
 * has worked before and gives it back for the next batch.
 *
 * @param <T> what it is
 */
public final class Lent<T extends Serializable> implements Serializable {
  private static final long serialVersionUID = 1;

  /** Things of so many names wait for their next batch. */
  private static final int MOST_KNOWN = 512;

  private static final Map<String, Deque<Object>> WAITING =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Deque<Object>> eldest) {
          return size() > MOST_KNOWN;
        }
      };

  private final String name;
  private final byte[] written;

  /**
   * @param name what nothing else that is lent has
   */
  public Lent(String name, T thing) {
    this.name = name;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(thing);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.written = bytes.toByteArray();
  }

  /** One that nobody else uses until it is given back. */
  @SuppressWarnings("unchecked")
  public T borrow() {
    synchronized (WAITING) {
      Deque<Object> ready = WAITING.get(name);
      if (ready != null && !ready.isEmpty()) {
        return (T) ready.pop();
      }
    }
    return (T) read();
  }

  public void giveBack(T thing) {
    synchronized (WAITING) {
      WAITING.computeIfAbsent(name, each -> new ArrayDeque<>()).push(thing);
    }
  }

  private Object read() {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(written)) {
          @Override
          protected Class<?> resolveClass(ObjectStreamClass described)
              throws IOException, ClassNotFoundException {
            try {
              return Class.forName(described.getName(), false, loader);
            } catch (ClassNotFoundException e) {
              return super.resolveClass(described);
            }
          }
        }) {
      return in.readObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("What is lent needs a class that is not here.", e);
    }
  }
}
