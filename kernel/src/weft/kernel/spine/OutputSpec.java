package weft.kernel.spine;

import java.io.Serializable;
import java.util.ArrayList;
import org.apache.spark.sql.types.StructType;
import weft.kernel.spark.ParquetFiles;

/**
 * What a task needs to write one output of the spine.
 *
 * @param column name and {@code ordinal} place of the struct column in the woven frame
 * @param folder the stream table's folder
 * @param schema the rows of the stream
 * @param files how its files are written
 * @param hash place of the column that has the hash of a row where it is known, or -1
 * @param isHashed whether rows and files are hashed, as they are unless their cost is measured
 * @param watched the columns whose values are summed up
 */
record OutputSpec(
    String column,
    int ordinal,
    String folder,
    StructType schema,
    ParquetFiles files,
    int hash,
    boolean isHashed,
    ArrayList<WatchedColumn> watched)
    implements Serializable {}
