package weft.kernel.spine;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import weft.kernel.bytes.Sha256;
import weft.kernel.file.DurableFile;
import weft.kernel.file.LocalPath;
import weft.kernel.hash.RecordHash;
import weft.kernel.spark.ParquetFile;
import weft.kernel.table.DataFile;

/**
 * One output of the spine in one task: writes its rows to a file made for the first of them,
 * hashing as it goes.
 */
final class OutputTask {
  private static final int BUFFER_BYTES = 1 << 18;

  private final OutputSpec spec;
  private final String prefix;
  private final int partition;
  private final RecordHash hash;
  private final UnsafeRow row;
  private final OutputReport report;
  private final int system;
  private final UnsafeRow systemRow;
  private final Stamp.Setter stamp;
  private final WatchedColumn[] watched;
  private final ColumnSummary[] summaries;
  private ParquetFile writer;

  OutputTask(OutputSpec spec, String prefix, int partition, Stamp stamp, OutputReport report) {
    this.spec = spec;
    this.prefix = prefix;
    this.partition = partition;
    this.report = report;
    StructType schema = spec.schema();
    this.hash = RecordHash.rooted(schema);
    this.row = new UnsafeRow(schema.length());
    this.system =
        schema.getFieldIndex(RecordHash.WEFT).isDefined()
            ? schema.fieldIndex(RecordHash.WEFT)
            : -1;
    StructType inner =
        system < 0 ? new StructType() : (StructType) schema.fields()[system].dataType();
    this.systemRow = new UnsafeRow(inner.length());
    this.stamp = stamp == null || system < 0 ? null : stamp.on(inner, spec.column());
    this.watched = spec.watched().toArray(WatchedColumn[]::new);
    this.summaries = new ColumnSummary[watched.length];
    for (int i = 0; i < watched.length; i++) {
      summaries[i] = report.columns.computeIfAbsent(watched[i].name(), n -> new ColumnSummary());
    }
  }

  /** Writes this output's struct of a woven row, if it has one. */
  void take(UnsafeRow woven) {
    if (woven.isNullAt(spec.ordinal())) {
      return;
    }
    point(row, woven, spec.ordinal());
    if (writer == null) {
      open();
    }
    if (stamp != null && !row.isNullAt(system)) {
      point(systemRow, row, system);
      stamp.set(systemRow);
    }
    writer.write(row);
    for (int i = 0; i < watched.length; i++) {
      watched[i].take(row, summaries[i]);
    }
    if (!spec.isHashed()) {
      hash.skip();
    } else if (spec.hash() >= 0 && !woven.isNullAt(spec.hash())) {
      hash.addKnown(woven, spec.hash());
    } else {
      hash.add(row);
    }
  }

  /** Points a row at the struct inside another one, without an object per row. */
  private static void point(UnsafeRow inner, UnsafeRow outer, int ordinal) {
    long place = outer.getLong(ordinal);
    inner.pointTo(outer.getBaseObject(), outer.getBaseOffset() + (int) (place >>> 32), (int) place);
  }

  private void open() {
    writer = spec.files().create(spec.folder(), prefix, partition, spec.schema());
  }

  /** Finishes the file: its bytes are on the disk and hashed when this returns. */
  void finish() throws IOException {
    if (writer == null) {
      return;
    }
    writer.close();
    Path path = writer.path();
    writer = null;
    FileSystem files = path.getFileSystem(spec.files().conf());
    if (LocalPath.isLocal(files)) {
      DurableFile.sync(LocalPath.of(path));
      DurableFile.syncFolder(LocalPath.of(path).getParent());
    }
    FileStatus status = files.getFileStatus(path);
    report.files.add(
        new DataFile(
            path.getName(),
            hash.rows(),
            status.getLen(),
            status.getModificationTime(),
            spec.isHashed() ? digest(files, path) : "",
            hash.root()));
    report.hash.add(hash.sum());
  }

  private static String digest(FileSystem files, Path path) throws IOException {
    MessageDigest sha256 = Sha256.digest();
    byte[] buffer = new byte[BUFFER_BYTES];
    try (InputStream in = files.open(path)) {
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        sha256.update(buffer, 0, read);
      }
    }
    return HexFormat.of().formatHex(sha256.digest());
  }

  /** Lets go of the file after a failure, which is the error to report. */
  void abandon(Throwable failure) {
    if (writer != null) {
      try {
        writer.close();
      } catch (RuntimeException e) {
        failure.addSuppressed(e);
      }
      writer = null;
    }
  }
}
