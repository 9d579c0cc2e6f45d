/**
 * Documents from changing tables: a tree of tables, kept up with every insert, update and delete.
 *
 * <p>{@link weft.kernel.product.Assemble} makes a plan of the tree ({@link
 * weft.kernel.product.Tree}, {@link weft.kernel.product.Node}), which {@link weft.kernel.change}
 * runs. Each node is a station of it, {@link weft.kernel.product.PartStation}, from the deepest
 * level to the root: rows of a node by what links them to their parent ({@link
 * weft.kernel.product.Shelf}), and the parents that look there. A changed part is sent to these; at
 * the root, the changed {@link weft.kernel.product.Document} comes out. A part that may be long is
 * not sent but looked up, where all are in one bucket; and what was used last is in memory ({@link
 * weft.kernel.product.Shelves}).
 */
package weft.kernel.product;
