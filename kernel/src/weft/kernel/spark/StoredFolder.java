package weft.kernel.spark;

import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.SerializableConfiguration;
import weft.kernel.file.LocalPath;

/**
 * A folder of a storage by its address, which tasks read too: a path is opened as such, any other
 * address by Hadoop with the settings of the session.
 */
public final class StoredFolder implements Serializable {
  private static final long serialVersionUID = 1L;

  private final String address;
  private final SerializableConfiguration conf;

  private StoredFolder(String address, SerializableConfiguration conf) {
    this.address = address;
    this.conf = conf;
  }

  /** The folder at an address; called where a session is active. */
  public static StoredFolder at(String address) {
    if (!address.contains("://")) {
      return new StoredFolder(address, null);
    }
    return new StoredFolder(
        address, new SerializableConfiguration(Sessions.hadoopConf(SparkSession.active())));
  }

  /** Whether a file of this name is there. */
  public boolean has(String name) throws IOException {
    return conf == null ? Files.exists(Paths.get(address, name)) : files().exists(path(name));
  }

  /** The content of a file. */
  public byte[] read(String name) throws IOException {
    if (conf == null) {
      return Files.readAllBytes(Paths.get(address, name));
    }
    FileSystem files = files();
    if (LocalPath.isLocal(files)) {
      return Files.readAllBytes(LocalPath.of(path(name)));
    }
    try (InputStream in = files.open(path(name))) {
      return in.readAllBytes();
    }
  }

  private Path path(String name) {
    return new Path(address, name);
  }

  private FileSystem files() throws IOException {
    return new Path(address).getFileSystem(conf.value());
  }

  @Override
  public String toString() {
    return address;
  }
}
