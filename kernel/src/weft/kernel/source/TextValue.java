package weft.kernel.source;

/** Reads a value of one type from its text. */
@FunctionalInterface
interface TextValue {
  Object read(String text) throws BadRecord;
}
