/**
 * Changing tables, whatever is made of them: products and updating queries run on this.
 *
 * <p>{@link weft.kernel.change.Attach} attaches a {@link weft.kernel.change.Plan} to the streams of
 * its tables; {@link weft.kernel.change.TableRows} sends their changes to buckets of keys. What a
 * bucket does is {@link weft.kernel.change.ChangeEngine}, in steps that run one after the other, in
 * one bucket after another or all in one:
 *
 * <ol>
 *   <li>{@link weft.kernel.change.WholeTransactions}, where a plan asks for it: changes wait
 *       ({@link weft.kernel.change.HeldChange}) until their transaction has ended ({@link
 *       weft.kernel.change.Boundaries}) and is whole.
 *   <li>{@link weft.kernel.change.TableStep}: rows by the key of their table, newest position wins
 *       ({@link weft.kernel.change.Changed}), and deletions are remembered for a while ({@link
 *       weft.kernel.change.Graves}). What a change moves becomes {@link
 *       weft.kernel.change.Letter}s to the stations that see the table ({@link
 *       weft.kernel.change.View}, {@link weft.kernel.change.Place}).
 *   <li>{@link weft.kernel.change.StationStep}, from the highest level to 0: each {@link
 *       weft.kernel.change.Station} settles the letters of its places, keeps what it needs there,
 *       and writes letters ({@link weft.kernel.change.Post}) or results ({@link
 *       weft.kernel.change.Outlet}).
 * </ol>
 */
package weft.kernel.change;
