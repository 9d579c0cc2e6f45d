package weft.kernel.spark;

import org.apache.spark.Partition;

/** A partition that is known by its number. */
abstract class Numbered implements Partition {
  private static final long serialVersionUID = 1;
  private final int number;

  Numbered(int number) {
    this.number = number;
  }

  @Override
  public int index() {
    return number;
  }

  @Override
  public int hashCode() {
    return number;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Numbered same && same.number == number;
  }
}
