package weft.kernel.window.bucket;

/**
 * Records of one key that a knot brings for one window, or for the session that they would make
 * alone.
 */
record Arrival(long start, long end, long[] longs, Object[] objects, byte[] lateRow) {}
