package weft.kernel.window;

import java.io.Serializable;
import org.apache.spark.sql.types.StructType;

/** What every part of one windowed pipeline knows: its window, its slots, its rows, its buckets; and its whole text. */
record Task(
    String identity, Shape shape, Layout layout, int buckets, StructType keyType, StructType paneType, StructType lateType)
    implements Serializable {}
