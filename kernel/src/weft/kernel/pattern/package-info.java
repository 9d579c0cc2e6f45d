/**
 * Regular expressions of Java's dialect and LIKE patterns, matched in linear time. No Spark.
 *
 * <p>Read {@link weft.kernel.pattern.LinearPattern} first. {@link weft.kernel.pattern.Syntax} reads
 * a text into {@link weft.kernel.pattern.Part}s, which become a {@link
 * weft.kernel.pattern.Program}. An {@link weft.kernel.pattern.Automaton} runs it to know whether it
 * matches, a {@link weft.kernel.pattern.Machine} to know where, and {@link
 * weft.kernel.pattern.CharSkip} passes what neither can begin with. {@link
 * weft.kernel.pattern.LikePattern} stands by itself.
 */
package weft.kernel.pattern;
