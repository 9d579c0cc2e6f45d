package weft.kernel.sink;

import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;

/** Kafka did not do what it was asked for; the message is its reason. */
public final class UnsentException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UnsentException(Throwable cause) {
    super(reason(cause), cause);
  }

  /** What Kafka says, in one line. */
  static String reason(Throwable error) {
    Throwable told = error;
    while (told.getCause() != null
        && (told instanceof ExecutionException || told.getMessage() == null)) {
      told = told.getCause();
    }
    // Of a transaction that failed, the client tells that it did; why is one further down.
    Throwable why = told.getCause();
    String further = why == null ? null : why.getMessage();
    String said = told.getMessage() == null ? told.getClass().getSimpleName() : told.getMessage();
    if (further == null || said.contains(further)) {
      return said;
    }
    return said + (said.endsWith(".") ? " " : ": ") + further;
  }

  /** Whether another producer has taken the place of the one that was told this. */
  static boolean isFenced(Throwable error) {
    for (Throwable each = error; each != null; each = each.getCause()) {
      if (each instanceof ProducerFencedException
          || each instanceof InvalidProducerEpochException
          || each instanceof InvalidPidMappingException) {
        return true;
      }
    }
    return false;
  }
}
