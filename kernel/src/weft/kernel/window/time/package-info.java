/**
 * Event time: {@link weft.kernel.window.time.WindowSpec} is a declared window and knows which
 * windows hold a time, {@link weft.kernel.window.time.BatchKnots} has the knots of a batch with
 * their watermarks, {@link weft.kernel.window.time.Millis} the arithmetic.
 */
package weft.kernel.window.time;
