package weft.kernel.change;

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
 * A plan on its way to tasks: written once, and read only where none is ready.
 *
 * <p>A plan keeps what writes rows, which takes long to make and is for one thread at a time. A
 * task borrows one that has worked before and gives it back for the next batch.
 */
final class PlanHandle implements Serializable {
  private static final long serialVersionUID = 1;

  /** Plans of so many pipelines wait for their next batch. */
  private static final int MOST_KNOWN = 512;

  private static final Map<String, Deque<Plan>> WAITING =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Deque<Plan>> eldest) {
          return size() > MOST_KNOWN;
        }
      };

  private final String name;
  private final byte[] written;

  /**
   * @param name what no other plan has
   */
  PlanHandle(String name, Plan plan) {
    this.name = name;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(plan);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.written = bytes.toByteArray();
  }

  /** A plan that nobody else uses until it is given back. */
  Plan borrow() {
    synchronized (WAITING) {
      Deque<Plan> ready = WAITING.get(name);
      if (ready != null && !ready.isEmpty()) {
        return ready.pop();
      }
    }
    return read();
  }

  void giveBack(Plan plan) {
    synchronized (WAITING) {
      WAITING.computeIfAbsent(name, each -> new ArrayDeque<>()).push(plan);
    }
  }

  private Plan read() {
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
      return (Plan) in.readObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("A plan needs a class that is not here.", e);
    }
  }
}
