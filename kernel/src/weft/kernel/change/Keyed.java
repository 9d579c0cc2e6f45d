package weft.kernel.change;

import weft.kernel.bytes.Slice;

/** A value and its key. */
public record Keyed(Slice key, Slice value) {}
