package weft.kernel.product;

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
 * A tree on its way to tasks: written once, and read only where none is ready.
 *
 * <p>A tree keeps what writes rows, which takes long to make and is for one thread at a time. A
 * task borrows one that has worked before and gives it back for the next batch.
 */
final class TreeHandle implements Serializable {
  private static final long serialVersionUID = 1;

  /** Trees of so many products wait for their next batch. */
  private static final int MOST_KNOWN = 512;

  private static final Map<String, Deque<Tree>> WAITING =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Deque<Tree>> eldest) {
          return size() > MOST_KNOWN;
        }
      };

  private final String name;
  private final byte[] written;

  /**
   * @param name what no other tree has
   */
  TreeHandle(String name, Tree tree) {
    this.name = name;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(tree);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.written = bytes.toByteArray();
  }

  /** A tree that nobody else uses until it is given back. */
  Tree borrow() {
    synchronized (WAITING) {
      Deque<Tree> ready = WAITING.get(name);
      if (ready != null && !ready.isEmpty()) {
        return ready.pop();
      }
    }
    return read();
  }

  void giveBack(Tree tree) {
    synchronized (WAITING) {
      WAITING.computeIfAbsent(name, each -> new ArrayDeque<>()).push(tree);
    }
  }

  private Tree read() {
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
      return (Tree) in.readObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("A product needs a class that is not here.", e);
    }
  }
}
