/**
 * Documents from changing tables: a tree of tables, kept up with every insert, update and delete.
 *
 * <p>{@link weft.kernel.product.Assemble} attaches a product to the streams of its tables; {@link
 * weft.kernel.product.TableRows} sends their changes to buckets of keys. What a bucket does is
 * {@link weft.kernel.product.ProductEngine}, in steps that run one after the other, in one bucket
 * after another or all in one:
 *
 * <ol>
 *   <li>{@link weft.kernel.product.TableStep}: rows by the key of their table, newest position
 *       wins, and deletions are remembered for a while ({@link weft.kernel.product.Graves}). What a
 *       change moves becomes {@link weft.kernel.product.Letter}s to the nodes of the
 *       tree ({@link weft.kernel.product.Node}, {@link weft.kernel.product.Place}).
 *   <li>{@link weft.kernel.product.NodeStep}, from the deepest level to the root: rows of a node by
 *       what links them to their parent ({@link weft.kernel.product.Shelf} of {@link
 *       weft.kernel.product.KeyedValues}), and the parents that look there. A changed part is sent
 *       to these; at the root, the changed {@link weft.kernel.product.Document} comes out.
 * </ol>
 */
package weft.kernel.product;
