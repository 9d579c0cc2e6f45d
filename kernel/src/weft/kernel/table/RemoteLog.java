package weft.kernel.table;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A table's log on HDFS and its like, created through Delta's own log store for that kind of
 * storage, which knows how to create a file there only if it is absent.
 */
final class RemoteLog extends HadoopLog {
  private final Configuration conf;
  private final Object store;
  private final Method write;

  RemoteLog(Path folder, FileSystem files, Configuration conf) {
    super(folder, files);
    this.conf = conf;
    // By name: the kernel is compiled against PySpark's jars alone, and Delta's are added at run
    // time.
    String name = storeFor(files.getUri().getScheme());
    try {
      Class<?> type = Class.forName(name, true, Thread.currentThread().getContextClassLoader());
      this.store = type.getConstructor(Configuration.class).newInstance(conf);
      this.write =
          type.getMethod("write", Path.class, Iterator.class, Boolean.class, Configuration.class);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "Streams at " + folder + " need " + name + ", which Delta's jars do not provide.", e);
    }
  }

  private static String storeFor(String scheme) {
    return switch (scheme.toLowerCase(Locale.ROOT)) {
      case "abfs", "abfss", "adl", "wasb", "wasbs" -> "io.delta.storage.AzureLogStore";
      case "gs" -> "io.delta.storage.GCSLogStore";
      default -> "io.delta.storage.HDFSLogStore";
    };
  }

  @Override
  public boolean putIfAbsent(long version, String text) throws IOException {
    files.mkdirs(folder);
    try {
      write.invoke(store, file(version), Arrays.asList(text.split("\n")).iterator(), false, conf);
      return true;
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof FileAlreadyExistsException) {
        return false;
      }
      if (e.getCause() instanceof IOException failed) {
        throw failed;
      }
      throw new IllegalStateException("The log at " + folder + " failed.", e.getCause());
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }
}
