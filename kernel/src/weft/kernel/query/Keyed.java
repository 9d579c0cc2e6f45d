package weft.kernel.query;

import weft.kernel.bytes.Slice;

/** A value and its key. */
record Keyed(Slice key, Slice value) {}
