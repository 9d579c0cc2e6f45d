package weft.kernel.product;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import weft.kernel.change.View;

/**
 * A node of a product's tree: a table, in the part that it plays here.
 *
 * @param number which station it is
 * @param parent the number of its parent, -1 for the root
 * @param place which of its parent's parts it is
 * @param view what it sees of a row of its table
 * @param type its document
 * @param isLookedUp whether its parents are told where its value is found, and not the value: they
 *     are in the same bucket, and what may be long is written once
 * @param lookedUp which of its parts are such
 */
record Node(
    int number,
    int parent,
    int place,
    int level,
    boolean isMany,
    boolean isRequired,
    int limit,
    View view,
    List<Output> outputs,
    Totals totals,
    int[] parts,
    StructType type,
    boolean isLookedUp,
    boolean[] lookedUp)
    implements Serializable {
  private static final long serialVersionUID = 1;

  /** A field of the document of a node: one of its own values, a part, or a field of a part. */
  record Output(String name, int own, int part, int field) implements Serializable {}

  boolean isRoot() {
    return parent < 0;
  }

  /** Whether a row has of this part where its value is found, and not the value. */
  boolean looksUp(int part) {
    return lookedUp[part];
  }

  boolean looksUpAny() {
    for (int part = 0; part < lookedUp.length; part++) {
      if (lookedUp[part]) {
        return true;
      }
    }
    return false;
  }

  /** The type of what its parent gets. */
  DataType partType() {
    return isMany && totals == null ? new ArrayType(type, false) : type;
  }
}
