/**
 * What the functions of one record may make and do.
 *
 * <p>Read {@link weft.kernel.gate.Budget} first. A {@link weft.kernel.gate.Model} charges a call to
 * it by the sizes of its arguments ({@link weft.kernel.gate.Sizes}, {@link
 * weft.kernel.gate.TextSizes}, {@link weft.kernel.gate.Texts}), before it is made. {@link
 * weft.kernel.gate.TooMuchException} ends a record, {@link weft.kernel.gate.RefusedException} a
 * declaration. The expressions that charge are in {@code weft.kernel.spark.gate}.
 */
package weft.kernel.gate;
