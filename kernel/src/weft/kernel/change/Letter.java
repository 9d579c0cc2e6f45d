package weft.kernel.change;

import java.util.Arrays;
import java.util.Comparator;
import weft.kernel.bytes.Blob;

/**
 * What a step tells a station, at the place where rows with one link are kept.
 *
 * @param kind one of the constants
 * @param station the station
 * @param link the link of the rows it concerns: values of columns, as bytes of a row
 * @param row the key of a row, or the address of a parent's row
 * @param value own values of a row, or the value of a part; null where there is none
 * @param part which part of the row the value is of, or which side of the station the row is
 */
public record Letter(int kind, int station, byte[] link, byte[] row, byte[] value, int part) {
  /** The kinds, in the order in which a place takes them. */
  public static final int REMOVE = 0;

  public static final int ROW = 1;
  public static final int UNSUBSCRIBE = 2;
  public static final int SUBSCRIBE = 3;
  public static final int PART = 4;

  /** One order for the letters of a place, whatever order they come in. */
  static final Comparator<Letter> ORDER =
      Comparator.comparingInt(Letter::kind)
          .thenComparingInt(Letter::part)
          .thenComparing(Letter::row, Arrays::compareUnsigned)
          .thenComparing(Letter::value, Arrays::compareUnsigned);

  void write(Blob out) {
    out.putInt(kind);
    out.putInt(station);
    out.putInt(part);
    out.putArray(link);
    out.putArray(row);
    out.putArray(value);
  }

  static Letter read(Blob in) {
    int kind = in.getInt();
    int station = in.getInt();
    int part = in.getInt();
    return new Letter(kind, station, in.getArray(), in.getArray(), in.getArray(), part);
  }
}
