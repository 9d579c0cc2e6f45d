/**
 * A stream's table: a Delta log in which every knot is one commit.
 *
 * <p>Read {@link weft.kernel.table.TableLog} first: all that is done to a table. It writes texts
 * ({@link weft.kernel.table.CommitText}, {@link weft.kernel.table.DataFile}, {@link
 * weft.kernel.table.Protocol}, {@link weft.kernel.table.CommitSum}) into a {@link
 * weft.kernel.table.LogStorage}, which is a local disk ({@link weft.kernel.table.LocalLog}), an
 * object store ({@link weft.kernel.table.ObjectLog}) or HDFS and its like ({@link
 * weft.kernel.table.RemoteLog}), and asks {@link weft.kernel.table.LogView} what they say: each is
 * a {@link weft.kernel.table.Commit}, {@link weft.kernel.table.Cuts} are the knots rolled back, and
 * {@link weft.kernel.table.Compactions} those that share a file ({@link
 * weft.kernel.table.Compacted}) since a {@link weft.kernel.table.Compaction}; a {@link
 * weft.kernel.table.LogFloor} says where a log begins whose oldest knots are gone. Who comes second
 * gets a {@link weft.kernel.table.CommitConflict}; who follows the table is woken by {@link
 * weft.kernel.table.Wake}.
 */
package weft.kernel.table;
