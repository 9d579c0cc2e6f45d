package weft.kernel.window;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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

/**
 * The state of a windowed pipeline as a table, read from its checkpoint: one row per key and window
 * that is kept.
 *
 * <p>The state describes itself, so that it is read without the pipeline, also as of an earlier
 * batch.
 */
public final class StateView {
  private static final ObjectMapper JSON = new ObjectMapper();

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

  private static final StructType VALUE =
      new StructType().add("place", DataTypes.BinaryType).add("value", DataTypes.BinaryType);

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
      int limit) {
    Dataset<Row> state = read(spark, checkpoint, batch, isOnHeap);
    Description description = describe(state);
    if (description == null) {
      return spark.createDataFrame(List.of(), WINDOW);
    }
    Dataset<Row> entries = state.flatMap(new Entries(description), Encoders.row(ENTRY));
    Dataset<Row> wanted = entries.where(functions.col("key").startsWith(prefix));
    if (after != null) {
      wanted = wanted.where(position().gt(after));
    }
    return wanted
        .groupByKey(
            (MapFunction<Row, Row>) row -> RowFactory.create(row.get(0), row.get(1), row.get(2)),
            Encoders.row(GROUP))
        .mapGroups(new Whole(description), Encoders.row(WINDOW))
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
      SparkSession spark, String checkpoint, long batch, boolean isOnHeap) {
    var reader = spark.read().format("statestore").option("path", checkpoint);
    if (batch >= 0) {
      reader = reader.option("batchId", batch);
    }
    if (isOnHeap) {
      return reader
          .load()
          .select(functions.expr("value.*"))
          .flatMap(new HeapEntries(), Encoders.row(VALUE));
    }
    return reader
        .option("stateVarName", RocksState.NAME)
        .option("flattenCollectionTypes", true)
        .load()
        .selectExpr("user_map_key.value AS place", "user_map_value.value AS value");
  }

  private static Description describe(Dataset<Row> state) {
    String text = null;
    long watermark = Knots.NONE;
    HashMap<Integer, String> layouts = new HashMap<>();
    for (Row row : state.where("substr(place, 1, 1) IN (X'64', X'68', X'6C')").collectAsList()) {
      byte[] place = row.getAs(0);
      byte[] value = row.getAs(1);
      if (place[0] == Place.DESCRIPTION) {
        text = Place.text(value);
      } else if (place[0] == Place.HEAD) {
        watermark = Math.max(watermark, Blob.reading(value).getLong());
      } else {
        layouts.put(ByteBuffer.wrap(place).getInt(1), Place.text(value));
      }
    }
    return text == null ? null : new Description(text, layouts, watermark);
  }

  /** The window, the keys and the layouts that state was written under. */
  private static final class Description implements Serializable {
    private static final long serialVersionUID = 1;
    final Shape shape;
    final StructType keys;
    final Layout layout;
    final long watermark;
    private final HashMap<Integer, String> layouts;

    Description(String text, HashMap<Integer, String> layouts, long watermark) {
      try {
        JsonNode node = JSON.readTree(text);
        this.shape = new Shape(JSON.readTree(node.get("window").textValue()));
        this.keys = (StructType) DataType.fromJson(node.get("keys").textValue());
        this.layout = Layout.fromJson(layouts.get(node.get("layout").intValue()));
        this.layouts = layouts;
        this.watermark = watermark;
      } catch (JsonProcessingException e) {
        throw new IllegalStateException("This is not the state of a window: " + text, e);
      }
    }

    Reader reader(int id) {
      return new Reader(layout, id == layout.id() ? layout : Layout.fromJson(layouts.get(id)));
    }
  }

  /** The entries of the values that hold accumulators, one for each window that they are in. */
  private static final class Entries implements FlatMapFunction<Row, Row> {
    private static final long serialVersionUID = 1;
    private final Description state;

    Entries(Description state) {
      this.state = state;
    }

    @Override
    public Iterator<Row> call(Row row) {
      byte[] place = row.getAs(0);
      byte[] value = row.getAs(1);
      List<Row> out = new ArrayList<>();
      if (place[0] == Place.SEGMENT) {
        addSegment(Place.time(place), value, out);
      } else if (place[0] == Place.KEY) {
        addKey(Arrays.copyOfRange(place, 1, place.length), value, out);
      }
      return out.iterator();
    }

    private void addSegment(long slice, byte[] segment, List<Row> out) {
      Table table = new Table(state.layout);
      Segment.readInto(segment, table, state.reader(Segment.layout(segment)));
      Shape shape = state.shape;
      for (int entry = 0; entry < table.size(); entry++) {
        Blob slots = new Blob();
        state.layout.write(
            table.longs(),
            entry * state.layout.longs,
            table.objects(),
            entry * state.layout.objects,
            slots);
        String key = KeyText.of(table.key(entry), state.keys);
        long last = shape.lastStart(slice);
        for (long start = shape.firstStart(slice);
            start <= last;
            start = Millis.plus(start, shape.slide)) {
          long end = Millis.plus(start, shape.size);
          if (!shape.isExpired(end, state.watermark)) {
            out.add(RowFactory.create(key, start, end, slots.toArray()));
          }
        }
      }
    }

    private void addKey(byte[] key, byte[] value, List<Row> out) {
      Blob in = Blob.reading(value);
      Reader reader = state.reader(in.getInt());
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

  /** The values of a state store on the heap, where a bucket is one value. */
  private static final class HeapEntries implements FlatMapFunction<Row, Row> {
    private static final long serialVersionUID = 1;

    @Override
    public Iterator<Row> call(Row row) {
      byte[] whole = null;
      for (int at = 0; at < row.length() && whole == null; at++) {
        Object column = row.get(at) instanceof Row nested ? nested.get(0) : row.get(at);
        whole = column instanceof byte[] bytes ? bytes : null;
      }
      List<Row> out = new ArrayList<>();
      HeapState.read(whole == null ? new byte[0] : whole)
          .forEach((place, value) -> out.add(RowFactory.create(place.getBytes(), value)));
      return out.iterator();
    }
  }

  /** One window out of what its segments say. */
  private static final class Whole implements MapGroupsFunction<Row, Row, Row> {
    private static final long serialVersionUID = 1;
    private final Description state;

    Whole(Description state) {
      this.state = state;
    }

    @Override
    public Row call(Row group, Iterator<Row> parts) {
      Layout layout = state.layout;
      long[] longs = new long[layout.longs];
      Object[] objects = new Object[layout.objects];
      Reader reader = new Reader(layout, layout);
      while (parts.hasNext()) {
        reader.read(Blob.reading(parts.next().getAs(3)), longs, 0, objects, 0, false);
      }
      long records = longs[Layout.RECORDS];
      TreeMap<String, Object> values = new TreeMap<>();
      for (int at = 0; at < layout.aggregates.length; at++) {
        Object value =
            layout.aggregates[at].result(
                records, longs, layout.longAt[at], objects, layout.objectAt[at]);
        values.put(layout.definitions.get(at).name(), value == null ? null : text(value));
      }
      boolean isGlobal = state.shape.isGlobal();
      try {
        return RowFactory.create(
            group.getString(0),
            isGlobal ? null : group.getLong(1),
            isGlobal ? null : group.getLong(2),
            records,
            JSON.writeValueAsString(values));
      } catch (JsonProcessingException e) {
        throw new IllegalStateException("A window's values cannot be written as JSON.", e);
      }
    }

    private static Object text(Object value) {
      return value instanceof Number || value instanceof Boolean ? value : value.toString();
    }
  }
}
