package weft.kernel.operator;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * What a batch has of one input of an operator.
 *
 * @param frame its rows
 * @param control what every bucket is told of it, as JSON: its knots and their watermarks
 * @param rows how many rows there are at most
 * @param files in how many files they lie
 */
public record InputBatch(Dataset<Row> frame, String control, long rows, int files) {
  /** As the constructor, for Python. */
  public static InputBatch of(Dataset<Row> frame, String control, long rows, int files) {
    return new InputBatch(frame, control, rows, files);
  }
}
