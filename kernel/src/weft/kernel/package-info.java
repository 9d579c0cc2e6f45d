/**
 * What runs for every row, and what a stream's table is made of.
 *
 * <p>{@link weft.kernel.Kernel} adds the kernel to a session. In the order in which data moves:
 *
 * <ol>
 *   <li>{@code source}: raw bytes become typed columns, or a reason why not.
 *   <li>{@code gate}: what the functions of a record may cost; {@code pattern}: regular expressions
 *       in linear time; {@code spark.gate}: both in the expressions that Spark runs.
 *   <li>{@code operator}: what runs the next three batch by batch, with their state.
 *   <li>{@code window}: records become panes.
 *   <li>{@code change}: rows that replace one another, by their keys; {@code product}: documents
 *       that are made of them; {@code query}: joins, groups and firsts of them.
 *   <li>{@code spine}: a woven batch is written, hashed and counted in one pass; {@code hash}: how.
 *   <li>{@code table}: the knots of a stream as commits of its Delta log.
 *   <li>{@code stream}: which knots a reader of that table is given; {@code spark.stream}: what a
 *       pipeline reads, batch by batch.
 *   <li>{@code sink}: rows go out to Kafka, exactly once.
 * </ol>
 *
 * <p>Below them lie {@code bytes}, {@code json} and {@code file}, and {@code spark}, the one folder
 * that a new version of Spark touches. No package imports one that imports it.
 */
package weft.kernel;
