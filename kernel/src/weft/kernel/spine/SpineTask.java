package weft.kernel.spine;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import weft.kernel.spark.RowBytes;

/** The spine's pass over one partition of the woven frame. */
final class SpineTask implements Function2<Integer, Iterator<InternalRow>, SpineReport> {
  private static final long serialVersionUID = 1L;
  private static final int SMALL_VERDICTS = 256;

  private final String prefix;
  private final ArrayList<OutputSpec> outputs;
  private final StructType schema;
  private final int verdict;
  private final int told;
  private final TimeSpec times;
  private final Stamp stamp;

  SpineTask(
      String prefix,
      List<OutputSpec> outputs,
      StructType schema,
      int verdict,
      int told,
      TimeSpec times,
      Stamp stamp) {
    this.prefix = prefix;
    this.outputs = new ArrayList<>(outputs);
    this.schema = schema;
    this.verdict = verdict;
    this.told = told;
    this.times = times;
    this.stamp = stamp;
  }

  List<OutputSpec> outputs() {
    return outputs;
  }

  @Override
  public SpineReport call(Integer partition, Iterator<InternalRow> rows)
      throws IOException {
    SpineReport report = new SpineReport(outputs.size());
    OutputTask[] tasks = new OutputTask[outputs.size()];
    for (int i = 0; i < tasks.length; i++) {
      tasks[i] = new OutputTask(outputs.get(i), prefix, partition, stamp, report.outputs.get(i));
    }
    try {
      pass(rows, tasks, report);
      for (OutputTask task : tasks) {
        task.finish();
      }
    } catch (Throwable failure) {
      for (OutputTask task : tasks) {
        task.abandon(failure);
      }
      throw failure;
    }
    return report;
  }

  private void pass(Iterator<InternalRow> rows, OutputTask[] tasks, SpineReport report) {
    RowBytes bytes = new RowBytes(schema);
    long[] counts = new long[SMALL_VERDICTS];
    TimeSpec.Observer observer = times == null ? null : times.new Observer(report.partitions);
    while (rows.hasNext()) {
      UnsafeRow row = bytes.of(rows.next());
      for (OutputTask task : tasks) {
        task.take(row);
      }
      if (verdict >= 0) {
        judge(row, counts, report);
      }
      if (observer != null) {
        observer.take(row);
      }
      if (told >= 0 && !row.isNullAt(told)) {
        report.told.add(row.getUTF8String(told).toString());
      }
    }
    for (int code = 0; code < SMALL_VERDICTS; code++) {
      if (counts[code] > 0) {
        report.verdicts.merge(code, counts[code], Long::sum);
      }
    }
  }

  private void judge(UnsafeRow row, long[] counts, SpineReport report) {
    if (row.isNullAt(verdict)) {
      report.withoutVerdict++;
      return;
    }
    int code = row.getInt(verdict);
    if (code >= 0 && code < SMALL_VERDICTS) {
      counts[code]++;
    } else {
      report.verdicts.merge(code, 1L, Long::sum);
    }
  }
}
