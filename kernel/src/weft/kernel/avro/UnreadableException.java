package weft.kernel.avro;

/** Why an event cannot be read, in words for its dead letter. */
final class UnreadableException extends Exception {
  private static final long serialVersionUID = 1;

  UnreadableException(String reason) {
    super(reason, null, false, false);
  }
}
