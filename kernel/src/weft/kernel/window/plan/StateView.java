package weft.kernel.window.plan;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.TreeMap;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.api.java.function.MapGroupsFunction;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import weft.kernel.bytes.Blob;
import weft.kernel.json.Json;
import weft.kernel.operator.StateCopy;
import weft.kernel.window.state.KeySegment;
import weft.kernel.window.state.KeyTable;
import weft.kernel.window.state.KeyText;
import weft.kernel.window.state.KeyWindow;
import weft.kernel.window.state.SlotLayout;
import weft.kernel.window.state.SlotReader;
import weft.kernel.window.state.StateKey;
import weft.kernel.window.time.Millis;
import weft.kernel.window.time.WindowSpec;

/**
 * The state of a windowed pipeline as a table, read from its checkpoint: one row per key and window
 * that is kept.
 *
 * <p>The state describes itself, so that it is read without the pipeline, also as of an earlier
 * batch.
 */
public final class StateView {

  private static final StructType ENTRY =
      new StructType()
          .add("key", DataTypes.StringType)
          .add("start", DataTypes.LongType)
          .add("end", DataTypes.LongType)
          .add("slots", DataTypes.BinaryType);

  private static final StructType GROUP =
      new StructType()
          .add("key", DataTypes.StringType)
          .add("start", DataTypes.LongType)
          .add("end", DataTypes.LongType);

  /**
   * A key as text, the bounds of its window in milliseconds, how many records it holds, its
   * aggregates as JSON.
   */
  private static final StructType WINDOW =
      new StructType()
          .add("key", DataTypes.StringType)
          .add("start", DataTypes.LongType)
          .add("end", DataTypes.LongType)
          .add("records", DataTypes.LongType)
          .add("values", DataTypes.StringType);

  private StateView() {}

  /**
   * The windows of all keys whose text begins with a prefix, in the order of keys and bounds.
   *
   * <p>A key's text is its columns joined by a slash. `batch` is the last one whose state is
   * wanted, or -1 for the newest; `after` is the key and start from which a page goes on, or null;
   * at most `limit` rows come.
   */
  public static Dataset<Row> windows(
      SparkSession spark,
      String checkpoint,
      long batch,
      boolean isOnHeap,
      String prefix,
      String after,
      int limit)
      throws IOException {
    Dataset<Row> state = read(spark, checkpoint, batch, isOnHeap);
    Description description = describe(state);
    if (description == null) {
      return spark.createDataFrame(List.of(), WINDOW);
    }
    Dataset<Row> entries = state.flatMap(new EntryReader(description), Encoders.row(ENTRY));
    Dataset<Row> wanted = entries.where(functions.col("key").startsWith(prefix));
    if (after != null) {
      wanted = wanted.where(position().gt(after));
    }
    return wanted
        .groupByKey(
            (MapFunction<Row, Row>) row -> RowFactory.create(row.get(0), row.get(1), row.get(2)),
            Encoders.row(GROUP))
        .mapGroups(new WindowReader(description), Encoders.row(WINDOW))
        .orderBy("key", "start")
        .limit(limit);
  }

  /** Where a row is in the order of keys and starts, as text that sorts the same way. */
  private static Column position() {
    var start = functions.hex(functions.col("start").bitwiseXOR(functions.lit(Long.MIN_VALUE)));
    return functions.concat(
        functions.col("key"), functions.lit("\0"), functions.lpad(start, 16, "0"));
  }

  private static Dataset<Row> read(
      SparkSession spark, String checkpoint, long batch, boolean isOnHeap) throws IOException {
    StateCopy state = new StateCopy(spark, checkpoint, isOnHeap);
    // What batch n leaves behind is version n + 1.
    long version = batch >= 0 ? batch + 1 : state.newest(0);
    return state.entries(0, version).select("place", "value");
  }

  private static Description describe(Dataset<Row> state) {
    String text = null;
    long watermark = Millis.NONE;
    HashMap<Integer, String> layouts = new HashMap<>();
    for (Row row : state.where("substr(place, 1, 1) IN (X'64', X'68', X'6C')").collectAsList()) {
      byte[] place = row.getAs(0);
      byte[] value = row.getAs(1);
      if (place[0] == StateKey.DESCRIPTION) {
        text = StateKey.text(value);
      } else if (place[0] == StateKey.HEAD) {
        watermark = Math.max(watermark, Blob.reading(value).getLong());
      } else {
        layouts.put(ByteBuffer.wrap(place).getInt(1), StateKey.text(value));
      }
    }
    return text == null ? null : new Description(text, layouts, watermark);
  }

  /** The window, the keys and the layouts that state was written under. */
  private static final class Description implements Serializable {
    private static final long serialVersionUID = 1;
    final WindowSpec spec;
    final StructType keys;
    final SlotLayout layout;
    final long watermark;
    private final HashMap<Integer, String> layouts;

    Description(String text, HashMap<Integer, String> layouts, long watermark) {
      JsonNode node = Json.parse(text);
      this.spec = new WindowSpec(Json.parse(node.get("window").textValue()));
      this.keys = (StructType) DataType.fromJson(node.get("keys").textValue());
      this.layout = SlotLayout.fromJson(layouts.get(node.get("layout").intValue()));
      this.layouts = layouts;
      this.watermark = watermark;
    }

    SlotReader reader(int id) {
      return new SlotReader(
          layout, id == layout.id() ? layout : SlotLayout.fromJson(layouts.get(id)));
    }
  }

  /** The entries of the values that hold accumulators, one for each window that they are in. */
  private static final class EntryReader implements FlatMapFunction<Row, Row> {
    private static final long serialVersionUID = 1;
    private final Description state;

    EntryReader(Description state) {
      this.state = state;
    }

    @Override
    public Iterator<Row> call(Row row) {
      byte[] place = row.getAs(0);
      byte[] value = row.getAs(1);
      List<Row> out = new ArrayList<>();
      if (place[0] == StateKey.SEGMENT) {
        addSegment(StateKey.time(place), value, out);
      } else if (place[0] == StateKey.KEY) {
        addKey(Arrays.copyOfRange(place, 1, place.length), value, out);
      }
      return out.iterator();
    }

    private void addSegment(long slice, byte[] segment, List<Row> out) {
      KeyTable table = new KeyTable(state.layout);
      KeySegment.readInto(segment, table, state.reader(KeySegment.layout(segment)));
      WindowSpec spec = state.spec;
      for (int entry = 0; entry < table.size(); entry++) {
        Blob slots = new Blob();
        state.layout.write(
            table.longs(),
            entry * state.layout.longs,
            table.objects(),
            entry * state.layout.objects,
            slots);
        String key = KeyText.of(table.key(entry), state.keys);
        long last = spec.lastStart(slice);
        for (long start = spec.firstStart(slice);
            start <= last;
            start = Millis.plus(start, spec.slide)) {
          long end = Millis.plus(start, spec.size);
          if (!spec.isExpired(end, state.watermark)) {
            out.add(RowFactory.create(key, start, end, slots.toArray()));
          }
        }
      }
    }

    private void addKey(byte[] key, byte[] value, List<Row> out) {
      Blob in = Blob.reading(value);
      SlotReader reader = state.reader(in.getInt());
      for (int left = in.getInt(); left > 0; left--) {
        KeyWindow window = KeyWindow.read(state.layout, reader, in);
        Blob slots = new Blob();
        state.layout.write(window.longs, 0, window.objects, 0, slots);
        out.add(
            RowFactory.create(
                KeyText.of(key, state.keys), window.start, window.end, slots.toArray()));
      }
    }
  }

  /** One window out of what its segments say. */
  private static final class WindowReader implements MapGroupsFunction<Row, Row, Row> {
    private static final long serialVersionUID = 1;
    private final Description state;

    WindowReader(Description state) {
      this.state = state;
    }

    @Override
    public Row call(Row group, Iterator<Row> parts) {
      SlotLayout layout = state.layout;
      long[] longs = new long[layout.longs];
      Object[] objects = new Object[layout.objects];
      SlotReader reader = new SlotReader(layout, layout);
      while (parts.hasNext()) {
        reader.read(Blob.reading(parts.next().getAs(3)), longs, 0, objects, 0, false);
      }
      long records = longs[SlotLayout.RECORDS];
      TreeMap<String, Object> values = new TreeMap<>();
      for (int at = 0; at < layout.accumulators.length; at++) {
        Object value =
            layout.accumulators[at].result(
                records, longs, layout.longAt[at], objects, layout.objectAt[at]);
        values.put(layout.aggregates.get(at).name(), value == null ? null : text(value));
      }
      boolean isGlobal = state.spec.isGlobal();
      return RowFactory.create(
          group.getString(0),
          isGlobal ? null : group.getLong(1),
          isGlobal ? null : group.getLong(2),
          records,
          Json.write(values));
    }

    private static Object text(Object value) {
      return value instanceof Number || value instanceof Boolean ? value : value.toString();
    }
  }
}
