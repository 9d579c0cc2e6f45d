/**
 * What a bucket remembers.
 *
 * <p>Accumulators of a key are slots, laid out by {@link weft.kernel.window.state.SlotLayout}. In
 * memory they stand in a {@link weft.kernel.window.state.KeyTable} or a {@link
 * weft.kernel.window.state.KeyWindow}; as bytes in a {@link weft.kernel.window.state.KeySegment},
 * which a {@link weft.kernel.window.state.SlotReader} reads whatever layout it was written under.
 * They are kept in a {@link weft.kernel.operator.BucketStore} under {@link
 * weft.kernel.window.state.StateKey}s, with a head that says what there is: {@link
 * weft.kernel.window.state.SliceState} or {@link weft.kernel.window.state.KeyState}.
 */
package weft.kernel.window.state;
