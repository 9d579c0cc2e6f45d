package weft.kernel.spark;

import java.util.List;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Java's lists as the sequences that Spark takes. */
final class Sequences {
  private Sequences() {}

  static <T> Seq<T> of(List<T> list) {
    return CollectionConverters.asScala(list).toSeq();
  }

  static <T> Seq<T> none() {
    return of(List.of());
  }
}
