package weft.kernel.query;

/** Which rows a join shows: pairs, and rows of a side by whether they have a partner. */
enum JoinKind {
  INNER(true, false, false),
  LEFT(true, true, false),
  RIGHT(true, false, true),
  FULL(true, true, true),
  SEMI(false, false, false),
  ANTI(false, true, false);

  /** Whether rows that match come out together. */
  final boolean showsPairs;

  /** Whether rows of a side without a partner come out. */
  private final boolean[] showsAlone;

  JoinKind(boolean showsPairs, boolean showsLeft, boolean showsRight) {
    this.showsPairs = showsPairs;
    this.showsAlone = new boolean[] {showsLeft, showsRight};
  }

  /** Whether a row of a side comes out by itself, if it has a partner or has none. */
  boolean shows(int side, boolean isAlone) {
    return isAlone ? showsAlone[side] : this == SEMI && side == 0;
  }
}
