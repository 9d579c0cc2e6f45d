import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import weft.kernel.spark.LocalCheckpoints;

/** Writes checkpoint files as fast as it can until it is killed, or lists those that a reader would see. */
public class CheckpointLoop {
  public static void main(String[] arguments) throws Exception {
    Path folder = new Path(arguments[1]);
    LocalCheckpoints files = new LocalCheckpoints(folder, new Configuration());
    if (arguments[0].equals("list")) {
      for (FileStatus status : files.list(folder, path -> true)) {
        System.out.println(status.getPath().getName());
      }
      return;
    }
    byte[] content = new byte[200_000];
    for (int i = 0; ; i++) {
      Arrays.fill(content, (byte) ('a' + i % 26));
      for (String name : new String[] {arguments[2] + "-" + i, "latest"}) {
        try (var out = files.createAtomic(new Path(folder, name), name.equals("latest"))) {
          out.write(content);
        }
      }
      if (i == 0) {
        System.out.println("writing");
      }
    }
  }
}
