package weft.kernel.product;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import weft.kernel.bytes.Slice;

/** The rows of a node under one link in memory: by their keys, and in the order of a list. */
final class NodeRows {
  /** Up to so many are looked through one by one. */
  private static final int FEW = 32;

  private final List<NodeRow> rows = new ArrayList<>(1);
  private Map<Slice, NodeRow> byKey;
  private boolean isSorted = true;

  int size() {
    return rows.size();
  }

  /** The row of a key, or null. */
  NodeRow find(byte[] key) {
    if (rows.size() > FEW) {
      return index().get(Slice.of(key));
    }
    for (NodeRow row : rows) {
      if (Arrays.equals(row.key(), key)) {
        return row;
      }
    }
    return null;
  }

  private Map<Slice, NodeRow> index() {
    if (byKey == null) {
      byKey = new HashMap<>();
      rows.forEach(row -> byKey.put(Slice.of(row.key()), row));
    }
    return byKey;
  }

  /** Takes a row of a key that is not there. */
  void add(NodeRow row) {
    rows.add(row);
    isSorted = false;
    if (byKey != null) {
      byKey.put(Slice.of(row.key()), row);
    }
  }

  void remove(NodeRow row) {
    rows.remove(row);
    if (byKey != null) {
      byKey.remove(Slice.of(row.key()));
    }
  }

  /** A row has other values of its own, by which it may come to stand elsewhere. */
  void moved() {
    isSorted = false;
  }

  /** The rows in an order, in which they stand from then on. */
  List<NodeRow> sorted(Comparator<NodeRow> order) {
    if (!isSorted) {
      rows.sort(order);
      isSorted = true;
    }
    return rows;
  }

  /** The rows in any order. */
  List<NodeRow> all() {
    return rows;
  }
}
