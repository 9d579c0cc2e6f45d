package weft.kernel.bytes;

import java.util.Iterator;
import java.util.function.Function;

/** Something made of each thing that an iterator has, when it is asked for. */
public final class Mapped {
  private Mapped() {}

  public static <A, B> Iterator<B> of(Iterator<A> things, Function<? super A, ? extends B> made) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return things.hasNext();
      }

      @Override
      public B next() {
        return made.apply(things.next());
      }
    };
  }
}
