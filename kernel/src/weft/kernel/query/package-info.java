/**
 * Updating queries over changing tables: joins without a window, groups, first rows.
 *
 * <p>{@link weft.kernel.query.Query} makes a plan of a query, which {@link weft.kernel.change}
 * runs. Rows go to the places of the columns that they are joined, grouped or ranked by, and each
 * change tells what the row was before it:
 *
 * <ul>
 *   <li>{@link weft.kernel.query.GroupStation} keeps no rows but a {@link weft.kernel.query.Tally},
 *       which takes them in and out: sums in slots, and what needs an order ({@link
 *       weft.kernel.query.Rank}) in {@link weft.kernel.query.SortedValues}, pages of a tree.
 *   <li>{@link weft.kernel.query.TopStation} keeps all rows of a place in their order.
 *   <li>{@link weft.kernel.query.JoinStation} keeps those of both sides ({@link
 *       weft.kernel.query.KeyedValues}), and tells of the pairs and of the rows without a partner
 *       ({@link weft.kernel.query.JoinKind}) that a batch changed.
 * </ul>
 *
 * <p>What the places of the last two show and take back meets in {@link weft.kernel.query.Results}
 * under the key of the result ({@link weft.kernel.query.OutRow}), so that it comes out once,
 * however the rows have moved.
 */
package weft.kernel.query;
