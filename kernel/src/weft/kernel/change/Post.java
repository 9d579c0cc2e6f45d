package weft.kernel.change;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;
import weft.kernel.bytes.Blob;
import weft.kernel.bytes.Slice;
import weft.kernel.operator.Buckets;
import weft.kernel.operator.Message;

/**
 * The letters that a bucket writes in a batch: those of a step that it runs itself go into its own
 * tray, others in parcels to the bucket of their place.
 */
public final class Post {
  private final Plan plan;
  private final int buckets;
  private final List<List<Letter>> trays = new ArrayList<>();
  private final Blob[][] parcels;
  private final boolean isAlone;

  /** With one bucket only there is nobody to send parcels to. */
  Post(Plan plan, int buckets) {
    this.plan = plan;
    this.buckets = buckets;
    this.isAlone = buckets == 1;
    this.parcels = new Blob[plan.depth() + 1][buckets];
    for (int level = 0; level <= plan.depth(); level++) {
      trays.add(new ArrayList<>());
    }
  }

  static int hash(int seed, byte[] bytes) {
    return hash(seed, Slice.of(bytes));
  }

  /** The hash by which things are spread. */
  public static int hash(int seed, Slice bytes) {
    return Murmur3_x86_32.hashUnsafeBytes2(
        bytes.array(), (long) Platform.BYTE_ARRAY_OFFSET + bytes.from(), bytes.length(), seed);
  }

  public void send(Letter letter) {
    int level = plan.station(letter.station()).level();
    if (isAlone) {
      trays.get(level).add(letter);
      return;
    }
    int bucket = Buckets.of(hash(letter.station(), letter.link()), buckets);
    Blob parcel = parcels[level][bucket];
    if (parcel == null) {
      parcel = parcels[level][bucket] = new Blob();
    }
    letter.write(parcel);
  }

  /** Puts the letters of a parcel into the tray of its level. */
  void open(int level, byte[] parcel) {
    Blob in = Blob.reading(parcel);
    while (!in.atEnd()) {
      trays.get(level).add(Letter.read(in));
    }
  }

  /** Takes the letters out of the tray of a level. */
  List<Letter> empty(int level) {
    return trays.set(level, new ArrayList<>());
  }

  /** The parcels, as messages. */
  void close(List<Message> out) {
    for (int level = 0; level < parcels.length; level++) {
      for (int bucket = 0; bucket < buckets; bucket++) {
        Blob parcel = parcels[level][bucket];
        if (parcel != null) {
          out.add(new Message(bucket, Message.PARCEL, 0, level, parcel.toArray()));
        }
      }
    }
  }
}
