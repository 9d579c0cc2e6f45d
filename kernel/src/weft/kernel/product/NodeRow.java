package weft.kernel.product;

import java.util.Arrays;
import weft.kernel.bytes.Blob;

/** A row of a node under one link, with what its parts have told it. */
final class NodeRow {
  /** What the objects of a row take, about. */
  private static final int OBJECTS = 120;

  private final byte[] key;
  private byte[] own;
  private final byte[][] parts;

  /** The document that was made of it, until it changes. */
  private byte[] document;

  /**
   * A row to which no part has told anything.
   *
   * @param key the key of the row in its table
   * @param parts how many parts it has
   */
  NodeRow(byte[] key, byte[] own, int parts) {
    this.key = key;
    this.own = own;
    this.parts = new byte[parts][];
  }

  /** The row that {@link #toBytes} wrote. */
  static NodeRow read(byte[] key, byte[] written, int parts) {
    Blob in = Blob.reading(written);
    NodeRow row = new NodeRow(key, in.getArray(), parts);
    for (int part = 0; part < parts; part++) {
      row.parts[part] = in.getArray();
    }
    return row;
  }

  byte[] toBytes() {
    int size = Integer.BYTES * (1 + parts.length) + own.length;
    for (byte[] part : parts) {
      size += length(part);
    }
    Blob out = Blob.ofSize(size);
    out.putArray(own);
    for (byte[] part : parts) {
      out.putArray(part);
    }
    return out.array();
  }

  byte[] key() {
    return key;
  }

  byte[] own() {
    return own;
  }

  /** Takes other values of its own; whether they are other ones. */
  boolean setOwn(byte[] values) {
    if (Arrays.equals(own, values)) {
      return false;
    }
    own = values;
    document = null;
    return true;
  }

  /** What its parts have told last: their values, or where these are found; null for nothing. */
  byte[][] parts() {
    return parts;
  }

  /** Takes what a part tells; whether it is something else. */
  boolean setPart(int part, byte[] told) {
    if (Arrays.equals(parts[part], told)) {
      return false;
    }
    parts[part] = told;
    document = null;
    return true;
  }

  byte[] document() {
    return document;
  }

  void keepDocument(byte[] made) {
    document = made;
  }

  /** How many bytes of memory it takes with its document, about. */
  long bytes() {
    long size = OBJECTS + key.length + 2L * own.length;
    for (byte[] part : parts) {
      size += 2L * length(part);
    }
    return size;
  }

  private static int length(byte[] bytes) {
    return bytes == null ? 0 : bytes.length;
  }
}
