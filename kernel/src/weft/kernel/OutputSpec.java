package weft.kernel;

import java.io.Serializable;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;

/**
 * What a task needs to write one output of the spine.
 *
 * @param column name and {@code ordinal} place of the struct column in the woven frame
 * @param folder the stream table's folder
 * @param schema the rows of the stream
 */
record OutputSpec(
    String column,
    int ordinal,
    String folder,
    StructType schema,
    OutputWriterFactory factory,
    SerializableConfiguration conf)
    implements Serializable {}
