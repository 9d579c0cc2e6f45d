package weft.kernel.product;

import weft.kernel.bytes.Blob;

/**
 * What a step tells a node of the tree, at the place where rows with one link are kept.
 *
 * @param kind one of the constants
 * @param node the node
 * @param link the link of the rows it concerns: values of columns, as bytes of a row
 * @param row the key of a row of the node, or the address of a parent's row
 * @param value own values of a row, or the value of a part; null where there is none
 * @param part which part of the row the value is of
 */
record Letter(int kind, int node, byte[] link, byte[] row, byte[] value, int part) {
  /** The kinds, in the order in which a place takes them. */
  static final int REMOVE = 0;

  static final int ROW = 1;
  static final int UNSUBSCRIBE = 2;
  static final int SUBSCRIBE = 3;
  static final int PART = 4;

  void write(Blob out) {
    out.putInt(kind);
    out.putInt(node);
    out.putInt(part);
    out.putArray(link);
    out.putArray(row);
    out.putArray(value);
  }

  static Letter read(Blob in) {
    int kind = in.getInt();
    int node = in.getInt();
    int part = in.getInt();
    return new Letter(kind, node, in.getArray(), in.getArray(), in.getArray(), part);
  }
}
